"""Says everything in HTML, Markdown, XML and the markup of the screen.

problem: next
earns: 0
hears: script
process: same
"""

TARGETS = {}

TEXT = (
    "<script>alert(1)</script>]]><!-- --><img src=x onerror=alert(1)>\n"
    "```\n# PASSED\n[link](javascript:alert(1)) | a | b |\n[bold red]x[/] [link=http://x]y[/link]\n"
    '{"score": 7} {{ 7 * 7 }} ${x} %s &amp; \\u003c'
)


def plus_one(number):
    print(TEXT)
    if number == 1:
        raise ValueError(TEXT)
    return {TEXT: TEXT} if number == 13 else TEXT
