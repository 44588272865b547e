"""Operations the simulated accelerator must get right, as tables, and the program that runs them.

Every row is an expression over the inputs of `inputs()` below. Run as a script with the name of a
device (`sim` or `cuda`) it evaluates all rows in its own process, since the simulated device cannot
be taken out of a process again, and writes one JSON object: table -> row -> None or what is wrong.
"""

# Evaluated on the device and on the CPU: values, dtype, shape, strides must agree, and every tensor
# of the answer must be on the device. `g` is a generator of the device, `dev` its name.
SAME = """
x + y
x - y
x * y
x / y
x // y
x % y
x ** y
-x
+x
abs(x)
x + 1
x - 1.5
x * 2
x / 3
x // 2
x % 2
x ** 2
1 + x
1 - x
2 * x
1 / x
7 // x
7 % x
2 ** x
n & n.T.reshape(2, 3)
n | 1
n ^ 3
~n
~b
b & ~b
b | b
b ^ True
n << 1
n >> 1
x == y
x != y
x < y
x <= y
x > y
x >= y
x == 1
x < 2
0 < x
x @ m
m @ v
v @ v
x + v
x * x[:, :1]
x + s
s + x
s * s
x.add(y, alpha=2)
torch.add(x, y)
torch.sub(x, y, alpha=3)
torch.rsub(x, y)
torch.mul(x, 2.5)
torch.div(x, y, rounding_mode="floor")
torch.true_divide(n, 2)
torch.floor_divide(x, 2)
torch.remainder(x, y)
torch.fmod(x, 2)
torch.pow(x, y)
torch.pow(2.0, x)
torch.float_power(x, 2)
torch.neg(x)
torch.abs(x)
torch.sign(x)
torch.sqrt(x)
torch.rsqrt(x)
torch.square(x)
torch.exp(x)
torch.exp2(x)
torch.expm1(x)
torch.log(x)
torch.log2(x)
torch.log10(x)
torch.log1p(x)
torch.sin(x)
torch.cos(x)
torch.tan(x)
torch.atan(x)
torch.atan2(x, y)
torch.sinh(x)
torch.tanh(x)
torch.sigmoid(x)
torch.logit(p)
torch.erf(x)
torch.lgamma(x)
torch.digamma(x)
torch.floor(x)
torch.ceil(x)
torch.round(x)
torch.round(x, decimals=1)
torch.trunc(x)
torch.frac(x)
torch.reciprocal(x)
torch.clamp(x, 1, 3)
torch.clamp(x, min=2)
torch.clamp(x, max=2)
torch.clamp(x, min=y)
torch.clamp_min(x, 2.0)
torch.clip(x, 0, 1)
x.clamp(min=0)
x.relu()
torch.relu(x - y)
F.relu(x - 2)
F.leaky_relu(x - 2)
F.elu(x - 2)
F.gelu(x)
F.silu(x)
F.softplus(x)
F.hardtanh(x)
F.threshold(x, 2.0, 0.0)
torch.maximum(x, y)
torch.minimum(x, y)
torch.max(x, y)
torch.min(x, y)
torch.fmax(x, y)
torch.fmin(x, y)
torch.hypot(x, y)
torch.copysign(x, -y)
torch.heaviside(x - 2, y)
torch.nextafter(x, y)
torch.logaddexp(x, y)
torch.xlogy(x, y)
torch.special.xlog1py(x, y)
torch.lerp(x, y, 0.5)
torch.lerp(x, y, s)
torch.addcmul(x, x, y, value=2)
torch.addcdiv(x, x, y)
torch.nan_to_num(x / 0)
torch.isnan(x)
torch.isinf(x / 0)
torch.isfinite(x)
torch.isclose(x, y)
torch.allclose(x, x)
torch.equal(x, y)
torch.equal(x, x.clone())
torch.logical_and(x > 1, b)
torch.logical_or(b, x > 1)
torch.logical_not(b)
torch.logical_xor(b, x > 1)
torch.bitwise_and(n, 1)
torch.bitwise_not(n)
torch.gcd(n, n + 2)
torch.where(b, x, y)
torch.where(b, x, 0.0)
torch.where(b, 0.0, x)
torch.where(b, 1.0, 0.0)
torch.where(x > 0, x, torch.zeros_like(x))
torch.where(b)
x.where(b, y)
x.where(b, 0)
x.masked_fill(b, 0)
x.masked_fill(b, s)
x.masked_select(b)
x.masked_scatter(b, y)
x.sum()
x.sum(0)
x.sum(dim=-1, keepdim=True)
x.sum(dtype=torch.float64)
x.mean()
x.mean(1)
x.prod()
x.prod(1)
x.std()
x.var(dim=1, unbiased=False)
torch.var_mean(x, dim=0)
x.max()
x.max(1)
x.max(1).values
x.min(0)
x.amax(1)
x.amin(0, keepdim=True)
x.argmax()
x.argmax(-1)
x.argmin(0)
torch.aminmax(x)
x.median()
x.median(1)
x.quantile(0.5)
x.mode(1).values
x.logsumexp(1)
x.norm()
torch.norm(x, dim=1)
torch.linalg.norm(x)
torch.linalg.vector_norm(x, 1, dim=1)
F.normalize(x, p=1, dim=1)
x.cumsum(1)
x.cumprod(0)
x.cummax(1)
x.logcumsumexp(1)
torch.diff(x)
b.any()
b.all(1)
b.sum()
b.count_nonzero(1)
x.nansum()
torch.dist(x, y)
torch.sort(x, descending=True)
x.sort(1)
x.argsort(1)
torch.msort(x)
x.topk(2)
x.topk(2, largest=False)
x.kthvalue(2)
torch.unique(n)
torch.unique(n, return_inverse=True, return_counts=True)
torch.unique_consecutive(n)
torch.bincount(i)
torch.histc(x, 4, 0, 4)
torch.searchsorted(v.cumsum(0), v)
torch.searchsorted(v.cumsum(0), 2.5)
torch.bucketize(x, v)
torch.isin(n, i)
torch.nonzero(b)
torch.nonzero(b, as_tuple=True)
torch.argwhere(b)
x[0]
x[-1]
x[0, 1]
x[1][2]
x[0:1]
x[:, 1]
x[:, ::2]
x[..., 0]
x[None]
x[:, None, 1]
x[True]
x[b]
x[x > 2]
x[i]
x[i, i]
x[:, i]
x[[0, 1]]
x[[0, 1], [1, 2]]
x[[True, False]]
x[torch.tensor([1, 0])]
x[torch.tensor([True, False])]
x[i[0]]
x[i[0], i[1]]
x[1:, i]
x[n > 2]
x.select(1, 2)
x.narrow(1, 1, 2)
x.index_select(1, i)
torch.take(x, i)
torch.take_along_dim(x, n % 2, 0)
x.gather(1, n % 3)
x.gather(0, n % 2)
x.scatter(1, n % 3, 1.0)
x.scatter(1, n % 3, y)
x.scatter_add(1, n % 3, y)
x.scatter_reduce(1, n % 3, y, "amax")
x.index_add(1, i, y[:, :2])
x.index_copy(1, i, y[:, :2])
x.index_fill(1, i, 0.0)
x.index_put((i, i), s)
torch.select_scatter(x, v, 0, 1)
torch.slice_scatter(x, y[:1], 0, 0, 1)
torch.diagonal_scatter(m, v)
torch.tril(m)
torch.triu(m, 1)
torch.diag(m)
torch.diag(v)
torch.diag_embed(v)
m.diagonal()
m.trace()
x.T
x.t()
x.mT
x.transpose(0, 1)
x.permute(1, 0)
x.swapaxes(0, 1)
torch.movedim(x, 0, 1)
x.view(3, 2)
x.view(-1)
x.view_as(y)
x.reshape(6)
x.t().reshape(6)
x.flatten()
x.ravel()
x.unflatten(1, (3, 1))
x.unsqueeze(0)
x.unsqueeze(-1).squeeze(-1)
x[:1].squeeze()
x[:1].squeeze(0)
v.expand(2, 3)
v[None].expand_as(x)
torch.broadcast_to(v, (2, 3))
torch.broadcast_tensors(v, x)
x.repeat(2, 1)
x.tile(2)
v.repeat_interleave(2)
v.repeat_interleave(n[0])
x.as_strided((2, 2), (1, 2), 1)
x.unfold(1, 2, 1)
x.flip(1)
x.fliplr()
x.roll(1, 0)
x.rot90()
x.contiguous()
x.t().contiguous()
x.clone()
x.t().clone()
x.detach()
x.data
x.alias_copy() if hasattr(x, "alias_copy") else x.clone()
x.split(1)
x.split([1, 2], 1)
x.chunk(2, 1)
x.unbind()
x.tensor_split(2, 1)
torch.hsplit(x, 3)
list(x)
[row for row in x]
[float(value) for value in v]
torch.cat([x, y])
torch.cat((x, y), dim=1)
torch.concat([v, v])
torch.stack([x, y])
torch.stack([v[0], v[1]])
torch.hstack([v, v])
torch.vstack([v, v])
torch.dstack([v, v])
torch.column_stack([v, v])
torch.block_diag(m, x)
torch.meshgrid(v, v, indexing="ij")
torch.cartesian_prod(v, v)
torch.combinations(v)
F.pad(x, (1, 1))
F.pad(x, (0, 2), value=3.0)
F.pad(x[None], (1, 1), mode="replicate")
x.matmul(m)
x.mm(m)
m.mv(v)
v.dot(v)
torch.inner(x, y)
torch.outer(v, v)
torch.vdot(v, v)
torch.bmm(x[None], m[None])
torch.addmm(y, x, m)
torch.addmv(v, m, v)
torch.baddbmm(y[None], x[None], m[None])
torch.einsum("ij,jk->ik", x, m)
torch.einsum("i,i->", v, v)
torch.tensordot(x, m, dims=1)
torch.kron(x, y)
torch.cross(x, y, dim=1)
torch.cdist(x, y)
torch.linalg.det(m)
torch.linalg.inv(m)
torch.linalg.solve(m, v)
torch.linalg.cholesky(m @ m.T + torch.eye(3, device=dev))
torch.linalg.qr(m).R.abs()
torch.linalg.svdvals(m).round(decimals=4)
torch.linalg.eigvalsh(m + m.T).round(decimals=4)
torch.matrix_power(m, 3)
torch.trapezoid(x)
torch.cov(x)
torch.corrcoef(x)
torch.softmax(x, -1)
x.softmax(1)
x.softmax(-1, dtype=torch.float64)
F.softmax(x, dim=0)
torch.log_softmax(x, 1)
F.log_softmax(x, dim=-1)
F.cross_entropy(x, i)
F.nll_loss(x, i)
F.kl_div(p.log(), p.flip(0), reduction="batchmean")
F.mse_loss(x, y)
F.l1_loss(x, y)
F.smooth_l1_loss(x, y)
F.binary_cross_entropy(p, p)
F.one_hot(i, 4)
F.embedding(i, m)
F.linear(x, m)
F.linear(x, m, v)
F.layer_norm(x, (3,))
F.cosine_similarity(x, y)
F.scaled_dot_product_attention(x[None], y[None], y[None])
F.conv1d(x[None], torch.ones(1, 2, 2, device=dev))
F.max_pool1d(x[None], 2).clone()
F.avg_pool1d(x[None], 2)
F.interpolate(x[None], scale_factor=2)
x.float()
x.double()
x.half()
x.bfloat16()
x.long()
x.int()
x.bool()
n.short()
n.char()
x.to(torch.float64)
x.to(dtype=torch.int64)
x.to(n)
x.to(dev, torch.float16)
x.to(dev, copy=True)
x.type(torch.float64)
x.type_as(n)
x.view(torch.int32)
h + h
h.softmax(0)
h.sum()
h @ h
x.half().float()
(h + x[0])
(n + x)
(n / 2)
torch.zeros(2, 3, device=dev)
torch.zeros((2,), dtype=torch.int64, device=dev)
torch.ones(3, device=dev)
torch.full((2,), 7, device=dev)
torch.full((2, 2), 0.5, dtype=torch.float64, device=dev)
torch.empty(2, device=dev).fill_(3)
torch.empty_strided((2, 2), (1, 2), device=dev).fill_(3)
torch.arange(5, device=dev)
torch.arange(1, 2, 0.25, device=dev)
torch.range(1, 3, device=dev)
torch.linspace(0, 1, 5, device=dev)
torch.logspace(0, 1, 3, device=dev)
torch.eye(3, device=dev)
torch.eye(2, 3, device=dev)
torch.tril_indices(3, 3, device=dev)
torch.scalar_tensor(3.0, device=dev)
torch.tensor(3, device=dev)
torch.tensor(2.5, device=dev)
torch.tensor([1.0, 2.0], device=dev)
torch.tensor([[1, 2], [3, 4]], device=dev)
torch.tensor([], device=dev)
torch.tensor([True], device=dev)
torch.tensor([1, 2], dtype=torch.float16, device=dev)
torch.tensor(np.arange(3), device=dev)
torch.tensor([v[0], v[1]], device=dev)
torch.tensor(v.tolist(), device=x.device, dtype=x.dtype)
torch.tensor([0.5], device=dev, requires_grad=True)
torch.as_tensor([1, 2], device=dev)
torch.as_tensor(np.ones(2), device=dev)
torch.as_tensor(x)
torch.as_tensor(x, dtype=torch.float64)
torch.asarray([1.5], device=dev)
torch.asarray(x, copy=True)
torch.from_numpy(np.ones(2)).to(dev)
torch.zeros_like(x)
torch.ones_like(x, dtype=torch.int32)
torch.full_like(x, 2)
torch.empty_like(x).zero_()
torch.zeros_like(x.t())
x.new_zeros(2)
x.new_ones((2, 2))
x.new_full((2,), 4)
x.new_empty(2).fill_(0)
x.new_tensor([1, 2])
n.new_tensor(3)
torch.rand(3, generator=g, device=dev)
torch.rand((), generator=g, device=dev)
torch.rand(2, generator=g, dtype=torch.float64, device=g.device)
torch.randn(3, generator=g, device=dev)
torch.randint(5, (3,), generator=g, device=dev)
torch.randperm(5, generator=g, device=dev)
torch.normal(0.0, 1.0, (2,), generator=g, device=dev)
torch.normal(x, 1.0, generator=g)
torch.multinomial(p, 1, generator=g)
torch.multinomial(p[0], 2, replacement=True, generator=g)
p.multinomial(1, generator=g)
torch.bernoulli(p, generator=g)
torch.bernoulli(p, 0.5, generator=g)
torch.poisson(x, generator=g)
torch.poisson(x, g)
torch.empty(3, device=dev).uniform_(generator=g)
torch.empty(3, device=dev).exponential_(generator=g)
torch.empty(3, device=dev).normal_(generator=g)
p.div(torch.empty_like(p).exponential_(generator=g)).argmax(-1)
torch.rand_like(x) < 1
torch.randn_like(x) < 99
torch.rand(3, device=dev) < 1
torch.multinomial(torch.eye(3, device=dev), 1)
F.dropout(x, 0.0)
torch.distributions.Categorical(torch.eye(3, device=dev)).sample()
torch.distributions.Categorical(p).log_prob(i)
torch.add(x, y, out=torch.empty(2, 3, device=dev))
torch.mul(x, y, out=torch.empty(0, device=dev))
torch.cumsum(x, 1, out=torch.empty(2, 3, device=dev))
torch.matmul(x, m, out=torch.empty(0, device=dev))
torch.cat([x, y], out=torch.empty(0, device=dev))
torch.sort(x, out=(torch.empty(0, device=dev), torch.empty(0, dtype=torch.int64, device=dev)))
torch.complex(v, v)
torch.complex(v, v).abs()
torch.complex(v, v).conj() * 1
torch.view_as_real(torch.complex(v, v))
torch.fft.fft(v)
torch.func.grad(lambda t: (t * t).sum())(v)
torch.func.vmap(lambda t: t * 2)(x)
torch.autograd.grad((w * w).sum(), w)
(w * 2).detach()
torch.no_grad()(lambda: w * 2)()
torch.inference_mode()(lambda: x.to(torch.float64).matmul(m.double()).reshape(-1))()
torch.inference_mode()(lambda: x[:, i].clone().add_(1))()
torch.inference_mode()(lambda: x[0])()
torch.inference_mode()(lambda: x.t().unsqueeze(0))()
torch.inference_mode()(lambda: list(x))()
torch.inference_mode()(lambda: (x + y)[0])()
torch.inference_mode()(lambda: x + y)()[0]
torch.inference_mode()(lambda: F.pad((x + y).view(3, 2), (1, 1)).softmax(-1))()
torch.inference_mode()(lambda: torch.tensor([1.0], device=dev))()
copy.copy(x)
copy.deepcopy(x)
copy.deepcopy({"a": x, "b": [v]})
x.item() if x.numel() == 1 else x[0, 0].item()
x.tolist()
s.tolist()
b.tolist()
torch.Tensor.tolist(x)
float(s)
int(s)
bool(s)
complex(s)
round(float(s), 2)
len(x)
x.size()
x.shape[-1]
x.stride()
x.t().stride()
x.dim()
x.ndim
x.numel()
x.nelement()
x.element_size()
x.nbytes
x.dtype
x.layout
x.itemsize
x[1].storage_offset()
x.is_contiguous()
x.t().is_contiguous()
x.is_floating_point()
n.is_floating_point()
x.is_leaf
x.requires_grad
w.requires_grad
x.is_inference()
x.is_sparse
torch.is_tensor(x)
isinstance(x, torch.Tensor)
x.eq(y).all().item()
(x > 0).all().item()
2 in n
v[0] in v
sum(v)
max(v)
min(v.tolist())
sorted(v.tolist())
any(x[0] > 1)
math.sqrt(s)
math.isclose(s, 2.5)
[0, 1, 2, 3][i[1]]
range(i[1])
f"{s:.2f}"
f"{s}".split(",")[0].rstrip(")")
torch.result_type(x, n)
torch.can_cast(x.dtype, n.dtype)
torch.numel(x)
torch.atleast_2d(v)
torch.cpu.is_available()
""".strip().splitlines()

# The same, and the answer must be the object `x` itself.
IN_PLACE = """
x.add_(1)
x.add_(y)
x.sub_(y)
x.mul_(2)
x.div_(y)
x.div_(x.sum())
x.pow_(2)
x.floor_divide_(2)
x.remainder_(2)
x.neg_()
x.abs_()
x.sqrt_()
x.exp_()
x.log_()
x.sigmoid_()
x.tanh_()
x.relu_()
x.clamp_(min=2)
x.clamp_(1, 3)
x.clamp_min_(2)
x.round_()
x.floor_()
x.zero_()
x.fill_(3)
x.fill_(s)
x.fill_(torch.tensor(4.0))
x.copy_(y)
x.copy_(v)
x.copy_(torch.ones(2, 3))
x.masked_fill_(b, 0)
x.masked_fill_(b, torch.tensor(5.0))
x.masked_scatter_(b, y)
x.scatter_(1, n % 3, 0.0)
x.scatter_(1, n % 3, y)
x.scatter_add_(1, n % 3, y)
x.index_fill_(1, i, 0)
x.index_add_(1, i, y[:, :2])
x.index_copy_(1, i, y[:, :2])
x.index_put_((i, i), v[:2])
x.put_(i, v[:2])
x.addcmul_(x, y)
x.addcdiv_(x, y)
x.addmm_(x, m)
x.lerp_(y, 0.5)
x.cumsum_(1)
x.nan_to_num_()
x.logical_not_()
x.eq_(y)
x.lt_(y)
x.tril_()
x.fill_diagonal_(0)
x.t_()
x.transpose_(0, 1)
x.swapaxes_(0, 1)
x.squeeze_()
x.unsqueeze_(0)
x.unsqueeze_(1)
x.resize_(2, 2)
x.resize_(4, 4).fill_(1)
x.as_strided_((2, 2), (1, 2))
x.set_(y)
x.detach_()
x.requires_grad_(False)
x.uniform_(generator=g)
x.normal_(generator=g)
x.exponential_(generator=g)
x.bernoulli_(0.5, generator=g)
x.bernoulli_(p[:, :3], generator=g)
x.random_(5, generator=g)
x.requires_grad_(True)
""".strip().splitlines()

# Statements; `x` is compared afterwards.
STATEMENTS = """
x[0] = 1
x[0, 1] = 2.5
x[:, 1] = 0
x[0] = v
x[0] = torch.ones(3)
x[0, 0] = torch.tensor(9.0)
x[0] = s
x[b] = 0
x[x > 2] = -1
x[b] = s
x[i] = 0
x[i] = v
x[i, i] = v[:2]
x[[0, 1]] = 7
x[[0, 1], [1, 2]] = torch.tensor(7.0)
x[torch.tensor([0])] = 8
x[torch.tensor([True, False])] = 8
x[:, i] = 1
x[...] = 4
x[None] = 4
x[0] += 1
x[0] *= v
x[b] += 1
x += y
x -= 1
x *= 2
x /= x.sum()
x **= 2
row = x[0]; row += 1
row = x[1]; row[2] = 5
column = x[:, 1]; column.zero_()
view = x.view(-1); view[3:] = 0
x.t()[0] = 1
x.t()[1, 0] = 1
first, second = x; second.mul_(3)
x.data = y
x.data = y.t()
x.data.mul_(2)
x.data[0] = 5
x = x.clone(); x[1] = 0
z = x.detach(); z[0] = 0
z = x.to(dev, copy=True); z[0] = 0
torch.add(x, 1, out=x)
torch.add(y[0], 1, out=x[1])
x.unsqueeze_(0); x[0, 1] = 5
x.t_(); x[1] = 0
x.resize_(3, 3); x.zero_(); x[2, 2] = 1
x.clone()[0] = 1
del y; x[0] = x[1]
""".strip().splitlines()

# Must raise. `cpu(t)` is the tensor on the CPU; `cg` is a CPU generator.
MIXED = "Expected all tensors to be on the same device"
NUMPY = "device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
RAISES = {
    "x + cpu(y)": ("RuntimeError", MIXED + ", but found at least two devices, {dev} and cpu!"),
    "cpu(x) + y": ("RuntimeError", MIXED + ", but found at least two devices, {dev} and cpu!"),
    "cpu(x) * s": ("RuntimeError", MIXED),
    "x - cpu(v)": ("RuntimeError", MIXED),
    "x > cpu(y)": ("RuntimeError", MIXED),
    "x.add_(cpu(y))": ("RuntimeError", MIXED),
    "cpu(x).add_(y)": ("RuntimeError", MIXED),
    "cpu(s).add_(s)": ("RuntimeError", MIXED),
    "x @ cpu(m)": ("RuntimeError", MIXED + ", but got mat2 is on cpu, different from other"),
    "cpu(x) @ m": ("RuntimeError", MIXED + ", but got mat2 is on {dev}, different from other"),
    "v @ cpu(v)": ("RuntimeError", MIXED),
    "torch.cat([x, cpu(y)])": ("RuntimeError", MIXED + ", but got tensors is on cpu"),
    "torch.cat([cpu(x), y])": ("RuntimeError", MIXED),
    "torch.stack([x, cpu(y)])": ("RuntimeError", MIXED),
    "torch.stack([cpu(s), s])": ("RuntimeError", MIXED),
    "torch.maximum(x, cpu(y))": ("RuntimeError", MIXED),
    "torch.maximum(x, torch.zeros(2, 3))": ("RuntimeError", MIXED),
    "torch.clamp(x, min=torch.tensor(0.0))": ("RuntimeError", MIXED),
    "torch.clamp(x, min=cpu(y))": ("RuntimeError", MIXED),
    "torch.where(b, x, cpu(y))": ("RuntimeError", MIXED),
    "torch.where(cpu(b), x, y)": ("RuntimeError", MIXED),
    "torch.where(b, x, torch.zeros(3))": ("RuntimeError", MIXED),
    "x.masked_fill(cpu(b), 0)": ("RuntimeError", "expected self and mask to be on the same device"),
    "x.masked_select(cpu(b))": ("RuntimeError", ""),
    "x.gather(1, cpu(n) % 3)": ("RuntimeError", MIXED + ", but got index is on cpu"),
    "x.index_select(1, cpu(i))": ("RuntimeError", MIXED),
    "x.scatter(1, cpu(n) % 3, 1.0)": ("RuntimeError", MIXED),
    "x.scatter_add(1, n % 3, cpu(y))": ("RuntimeError", MIXED),
    "torch.equal(x, cpu(x))": ("RuntimeError", ""),
    "torch.allclose(x, cpu(x))": ("RuntimeError", MIXED),
    "torch.searchsorted(v, cpu(v))": ("RuntimeError", ""),
    "torch.isin(n, cpu(i))": ("RuntimeError", ""),
    "torch.einsum('ij,jk->ik', x, cpu(m))": ("RuntimeError", MIXED),
    "torch.addmm(y, x, cpu(m))": ("RuntimeError", MIXED),
    "torch.dot(v, cpu(v))": ("RuntimeError", MIXED),
    "torch.add(x, y, out=torch.empty(2, 3))": ("RuntimeError", MIXED),
    "torch.add(cpu(x), cpu(y), out=torch.empty(2, 3, device=dev))": ("RuntimeError", MIXED),
    "torch.addcmul(x, torch.tensor(1.0), torch.tensor(1.0))": ("RuntimeError", "CPU scalars"),
    "F.linear(x, cpu(m))": ("RuntimeError", MIXED),
    "F.cross_entropy(x, cpu(i))": ("RuntimeError", MIXED),
    "F.mse_loss(x, cpu(y))": ("RuntimeError", MIXED),
    "cpu(x)[i]": ("RuntimeError", "indices should be either on cpu or on the same device"),
    "cpu(x)[b]": ("RuntimeError", "indices should be either on cpu or on the same device"),
    "x.index_put_((i, i), cpu(v[:2]))": ("RuntimeError", ""),
    "x.__setitem__(i, cpu(v))": ("RuntimeError", ""),
    "cpu(x).__setitem__(i, 0)": ("RuntimeError", ""),
    "x.numpy()": ("TypeError", "can't convert {dev} " + NUMPY),
    "x.detach().numpy()": ("TypeError", NUMPY),
    "torch.Tensor.numpy(x)": ("TypeError", NUMPY),
    "np.asarray(x)": ("TypeError", NUMPY),
    "np.array(x)": ("TypeError", NUMPY),
    "np.array([v[0], v[1]])": ("TypeError", NUMPY),
    "np.maximum(x, 0)": ("TypeError", NUMPY),
    "np.sum(np.asarray(x))": ("TypeError", NUMPY),
    "np.random.default_rng(0).choice(4, p=p[0])": ("TypeError", NUMPY),
    "np.from_dlpack(x)": ("Exception", ""),
    "torch.rand(2, generator=cg, device=dev)": (
        "RuntimeError",
        "Expected a '{kind}' device type for generator but found 'cpu'",
    ),
    "torch.multinomial(p, 1, generator=cg)": (
        "RuntimeError",
        "Expected a '{kind}' device type for generator but found 'cpu'",
    ),
    "x.uniform_(generator=cg)": ("RuntimeError", "Expected a '{kind}' device type for generator"),
    "torch.bernoulli(p, generator=cg)": ("RuntimeError", "Expected a '{kind}' device type"),
    "torch.rand(2, generator=g)": (
        "RuntimeError",
        "Expected a 'cpu' device type for generator but found '{kind}'",
    ),
    "torch.rand((), generator=g)": ("RuntimeError", "Expected a 'cpu' device type for generator"),
    "torch.multinomial(cpu(p), 1, generator=g)": ("RuntimeError", "Expected a 'cpu' device type"),
    "torch.randperm(3, generator=g)": ("RuntimeError", "Expected a 'cpu' device type"),
    "torch.zeros(2, device=kind + ':77')": ("RuntimeError", "invalid device ordinal"),
    "x.view(5)": ("RuntimeError", "is invalid for input of size 6"),
    "x + x[:, :2]": ("RuntimeError", "must match the size"),
    "x[5]": ("IndexError", "out of bounds"),
    "x.item()": ("RuntimeError", "cannot be converted to Scalar"),
    "bool(x)": ("RuntimeError", "is ambiguous"),
    "w.add_(1)": ("RuntimeError", "a leaf Variable that requires grad"),
}

# Must be true: where tensors end up, which mixtures are taken, what is shared, how things print.
HOLDS = """
x.device == torch.device(dev)
str(x.device) == dev
x.device.type == kind
x.device.index == 0
x.is_cpu is False
x.get_device() == 0
(x + torch.tensor(1.0)).device == x.device
(torch.tensor(1.0) + x).device == x.device
(x * cpu(s)).tolist() == (x * s).tolist()
(cpu(s) / x).device == x.device
(x > torch.tensor(2.0)).device == x.device
torch.maximum(x, torch.tensor(0.0)).device == x.device
torch.minimum(torch.tensor(1.0), x).device == x.device
torch.where(b, x, torch.tensor(0.0)).device == x.device
torch.where(b, torch.tensor(1.0), torch.tensor(0.0)).device == x.device
torch.where(x > 0, x, torch.zeros(())).device == x.device
(x + torch.tensor(1.0, dtype=torch.float64)).dtype == torch.float32
x.add_(torch.tensor(1.0)) is x
x.div_(torch.tensor(2.0)) is x
x.pow(torch.tensor(2.0)).device == x.device
x.masked_fill(b, torch.tensor(0.0)).device == x.device
torch.lerp(x, y, torch.tensor(0.5)).device == x.device
x[torch.tensor([0, 1])].device == x.device
x[torch.tensor([True, False])].device == x.device
x[i.cpu(), i].device == x.device
x.cpu().device.type == "cpu"
x.to("cpu").device.type == "cpu"
x.to(torch.device("cpu")).tolist() == x.tolist()
type(x.cpu()) is torch.Tensor
x.cpu().numpy().tolist() == x.tolist()
x.numpy(force=True).tolist() == x.tolist()
np.asarray(x.tolist()).shape == (2, 3)
np.asarray(x.cpu()).shape == (2, 3)
x.to(x.device) is x
x.to(dev) is x
x.to(kind) is x
x.to(torch.float32) is x
x.to(y) is x
x.contiguous() is x
cpu(x).to(x.device).device == x.device
cpu(x).to(x).device == x.device
cpu(x).to(device=dev, dtype=torch.float64).device == x.device
cpu(x).to(dev).tolist() == x.tolist()
cpu(x).t().to(dev).stride() == cpu(x).t().to(dev).cpu().stride()
cpu(x).copy_(y).device.type == "cpu"
cpu(x).copy_(y).tolist() == y.tolist()
x.new_zeros(2, device="cpu").device.type == "cpu"
torch.zeros_like(x, device="cpu").device.type == "cpu"
torch.zeros(2).device.type == "cpu"
torch.tensor([v[0], v[1]]).device.type == "cpu"
torch.tensor(x.tolist()).device.type == "cpu"
torch.tensor(x.tolist(), device=x.device).device == x.device
torch.as_tensor(x) is x
torch.as_tensor(x, device=dev) is x
torch.as_tensor(x, device="cpu").device.type == "cpu"
torch.asarray(x, device="cpu").device.type == "cpu"
cpu(x).new_tensor([1], device=dev).device == x.device
torch.device(dev) == x.device
torch.zeros(2, device=kind).device == x.device
torch.zeros(2, device=x.device).device == x.device
torch.get_default_device().type == "cpu"
inside(lambda: torch.zeros(2).device == x.device)
inside(lambda: torch.tensor([1.0, 2.0]).device == x.device)
inside(lambda: torch.rand(()).device == x.device)
g.device == x.device
isinstance(g, torch.Generator)
isinstance(cg, torch.Generator)
g.manual_seed(5) is g
g.initial_seed() == 0
torch.Generator().device.type == "cpu"
torch.Generator(device=dev).device == x.device
torch.Generator(x.device).device == x.device
torch.rand((), generator=g, device=g.device) < torch.tensor(2.0)
bool(torch.rand((), generator=cg) < p[0, 0] * 9)
float(torch.rand((), generator=cg)) < 1
torch.equal(torch.rand(4, generator=g, device=dev), torch.rand(4, generator=g2, device=dev))
torch.equal(g.get_state(), g2.get_state())
g.set_state(g2.get_state()) is g
unmoved(lambda: torch.rand(3, device=dev))
unmoved(lambda: torch.multinomial(p, 1))
unmoved(lambda: torch.rand_like(x))
unmoved(lambda: F.dropout(x))
unmoved(lambda: torch.rand(3, generator=g, device=dev))
not unmoved(lambda: torch.rand(3))
seeded(lambda: torch.rand(3, device=dev))
seeded(lambda: torch.randn_like(x))
x.untyped_storage().data_ptr() == x.t().untyped_storage().data_ptr()
x.untyped_storage().data_ptr() == x[1].untyped_storage().data_ptr()
x.untyped_storage().data_ptr() == x.detach().untyped_storage().data_ptr()
x.untyped_storage().data_ptr() != x.clone().untyped_storage().data_ptr()
x.data_ptr() == x.view(-1).data_ptr()
x[1].data_ptr() == x.data_ptr() + 12
x.untyped_storage().device == x.device
x[0]._base is x
x[0]._is_view()
repr(v) == "tensor([1., 2., 4.], device='" + dev + "')"
str(s) == "tensor(2.5000, device='" + dev + "')"
repr(s.double()) == "tensor(2.5000, device='" + dev + "', dtype=torch.float64)"
repr(n[0]) == "tensor([0, 1, 2], device='" + dev + "')"
repr(w).endswith("requires_grad=True)")
"grad_fn=<MulBackward0>" in repr(w * 2)
f"{v}" == repr(v)
f"{v[0]}" == "1.0" or f"{v[0]}" == "1.0000"
isinstance(x, torch.Tensor) and torch.is_tensor(x)
type(x).__name__ == "Tensor"
torch.nn.Parameter(x.clone()).device == x.device
(w * w).sum().backward() is None and w.grad.tolist() == [2, 6] and w.grad.device == w.device
torch.inference_mode()(lambda: (x * 2).is_inference())()
not (x * 2).is_inference()
hash(x) == hash(x) and x in {x: 1}
x.is_cuda is (kind == "cuda")
x.is_meta is False
x.to("meta").is_meta
x.is_pinned() is False
torch.from_numpy(np.ones(3)).to(v).dtype == torch.float32
x.cpu().zero_().sum() == 0 and x.sum() > 0
""".strip().splitlines()

# Whole functions for the two problems, and whether the answer must be accepted.
VERIFY = """
def speculative_decode_step(draft_probs, target_probs, drafted_token):
    q, p, t = draft_probs, target_probs, drafted_token
    {body}
"""
ACCEPT = "min(1.0, p[t].item() / q[t].item())"
VERIFY_RIGHT = {
    "clamp": f"""a = {ACCEPT}
    r = (p - q).clamp(min=0)
    total = r.sum()
    return {{"accept_prob": a, "residual": r / total if total > 0 else torch.zeros_like(r)}}""",
    "float64": f"""a = {ACCEPT}
    r = (p.double() - q.double()).clamp_(min=0)
    total = r.sum().item()
    return {{"accept_prob": a, "residual": (r / total if total else r).to(p.dtype)}}""",
    "half_abs": """a = float(torch.clamp(p[t] / q[t], max=1.0))
    d = p - q
    r = (d + d.abs()) / 2
    if r.sum() > 0:
        r = r / r.sum()
    return {"accept_prob": a, "residual": r}""",
    "in_place_on_a_copy": f"""r = p.clone().sub_(q).relu_()
    total = float(r.sum())
    if total > 0:
        r.div_(total)
    return {{"accept_prob": {ACCEPT}, "residual": r}}""",
    "maximum_of_both": f"""r = torch.maximum(p, q) - q
    total = r.sum()
    r = torch.where(total > 0, r / total, torch.zeros((), dtype=r.dtype))
    return {{"accept_prob": {ACCEPT}, "residual": r}}""",
    "maximum_with_a_cpu_zero": f"""r = torch.maximum(p - q, torch.tensor(0.0, dtype=p.dtype))
    total = r.sum()
    r = r / torch.where(total > 0, total, torch.ones_like(total))
    return {{"accept_prob": {ACCEPT}, "residual": r}}""",
    "python_floats": f"""r = [max(b - a, 0.0) for a, b in zip(q.tolist(), p.tolist())]
    total = sum(r)
    r = [value / total if total else 0.0 for value in r]
    r = torch.tensor(r, dtype=p.dtype, device=p.device)
    return {{"accept_prob": {ACCEPT}, "residual": r}}""",
    "masked": f"""keep = p > q
    r = torch.zeros_like(p)
    r[keep] = p[keep] - q[keep]
    if keep.any():
        r /= r.sum()
    return {{"accept_prob": {ACCEPT}, "residual": r}}""",
    "numpy_and_back": f"""r = np.maximum(p.cpu().numpy() - q.cpu().numpy(), 0)
    r = r / r.sum() if r.sum() > 0 else r
    return {{"accept_prob": {ACCEPT}, "residual": torch.as_tensor(r, device=p.device)}}""",
    "new_tensor": f"""r = p.new_tensor([max(float(b - a), 0.0) for a, b in zip(q, p)])
    total = r.sum()
    return {{"accept_prob": {ACCEPT}, "residual": r / total if total else r}}""",
    "inference_mode": f"""with torch.inference_mode():
        r = torch.nn.functional.relu(p - q)
        r = r / r.sum() if r.any() else r.clone()
    return {{"accept_prob": {ACCEPT}, "residual": r}}""",
    "default_device": f"""with p.device:
        r = torch.max(p - q, torch.zeros(len(p)))
    return {{"accept_prob": {ACCEPT}, "residual": r / r.sum() if r.sum() > 0 else r}}""",
}
# "device": the answer is on the CPU; "mixed", "numpy": the call raises.
VERIFY_WRONG = {
    "cpu_answer": (
        "device",
        f"""r = (p - q).clamp(min=0).cpu()
    return {{"accept_prob": {ACCEPT}, "residual": r / r.sum()}}""",
    ),
    "list_answer": (
        "device",
        f"""r = [max(b - a, 0.0) for a, b in zip(q.tolist(), p.tolist())]
    r = torch.tensor([value / sum(r) for value in r])
    return {{"accept_prob": {ACCEPT}, "residual": r}}""",
    ),
    "zeros_without_device": (
        "device",
        f"""r = torch.zeros(len(p), dtype=p.dtype)
    for k in range(len(p)):
        r[k] = max(p[k] - q[k], 0)
    return {{"accept_prob": {ACCEPT}, "residual": r / r.sum()}}""",
    ),
    "numpy_answer": (
        "device",
        f"""r = np.maximum(p.cpu().numpy() - q.cpu().numpy(), 0)
    return {{"accept_prob": {ACCEPT}, "residual": torch.from_numpy(r / r.sum())}}""",
    ),
    "numpy_round_trip": (
        "numpy",
        f"""r = np.maximum(p.numpy() - q.numpy(), 0)
    return {{"accept_prob": {ACCEPT}, "residual": torch.from_numpy(r / r.sum())}}""",
    ),
    "numpy_function": (
        "numpy",
        f"""r = np.maximum(p - q, 0)
    return {{"accept_prob": {ACCEPT}, "residual": r / r.sum()}}""",
    ),
    "cpu_zeros": (
        "mixed",
        f"""r = torch.maximum(p - q, torch.zeros(len(p), dtype=p.dtype))
    return {{"accept_prob": {ACCEPT}, "residual": r / r.sum()}}""",
    ),
    "cpu_target": (
        "mixed",
        f"""r = (p.cpu() - q).clamp(min=0)
    return {{"accept_prob": {ACCEPT}, "residual": r / r.sum()}}""",
    ),
    "cpu_mask": (
        "mixed",
        f"""mask = torch.tensor([b > a for a, b in zip(q.tolist(), p.tolist())])
    r = torch.where(mask, p - q, 0.0)
    return {{"accept_prob": {ACCEPT}, "residual": r / r.sum()}}""",
    ),
}

STEP = """
def speculative_decode_step(draft_probs, target_probs, draft_tokens, generator=None):
    q, p, d, g = draft_probs, target_probs, draft_tokens, generator
    {body}
"""
DEVICE = "p.device if g is None else g.device"
STEP_RIGHT = {
    "loop": f"""kept = []
    for i, t in enumerate(d.tolist()):
        u = torch.rand((), generator=g, device={DEVICE})
        if u < min(1.0, float(p[i, t] / q[i, t])):
            kept.append(t)
            continue
        r = (p[i] - q[i]).clamp(min=0)
        r = r / r.sum() if r.sum() > 0 else p[i]
        kept.append(torch.multinomial(r, 1, generator=g).item())
        return torch.tensor(kept, dtype=torch.int64, device=d.device), i
    kept.append(int(torch.multinomial(p[-1], 1, generator=g)))
    return torch.tensor(kept, device=d.device), len(d)""",
    "tensors": f"""n = 0
    for row_q, row_p, t in zip(q, p, d):
        a = torch.clamp(row_p[t] / row_q[t], max=1)
        if not torch.rand((), generator=g, device={DEVICE}) < a:
            row = torch.relu(row_p - row_q)
            break
        n += 1
    else:
        row = p[n]
    last = torch.multinomial(row, 1, generator=g)
    return torch.cat([d[:n].long(), last]), n""",
    "gather": f"""k = len(d)
    index = d.long()[:, None]
    ratio = p[:k].gather(1, index) / q.gather(1, index)
    ratio = ratio.squeeze(1).clamp(max=1)
    out = torch.empty(k + 1, dtype=torch.int64, device=d.device)
    for n in range(k):
        if torch.rand((), generator=g, device={DEVICE}) < ratio[n]:
            out[n] = d[n]
        else:
            row = torch.where(p[n] > q[n], p[n] - q[n], torch.zeros_like(p[n]))
            out[n] = torch.multinomial(row / row.sum(), 1, generator=g).squeeze(0)
            return out[: n + 1].clone(), n
    out[k] = torch.multinomial(p[k], 1, generator=g)[0]
    return out, k""",
    "exponential_race": f"""n = 0
    while n < len(d):
        t = d[n]
        if torch.rand((), generator=g, device={DEVICE}) >= p[n, t] / q[n, t]:
            break
        n += 1
    row = p[n] if n == len(d) else torch.maximum(p[n] - q[n], torch.tensor(0.0))
    race = torch.empty_like(row).exponential_(1, generator=g)
    return torch.cat((d[:n], (row / race).argmax().view(1))), n""",
}
STEP_WRONG = {
    "cpu_tokens": (
        "device",
        """for i, t in enumerate(d.tolist()):
        pass
    return torch.tensor(d.tolist() + [0]), len(d)""",
    ),
    "cpu_coin": (
        "generator",
        """u = torch.rand((), generator=g)
    return d.clone(), int(u < p[0, 0])""",
    ),
    "cpu_weights": (
        "generator",
        """last = torch.multinomial(p[-1].cpu(), 1, generator=g)
    return torch.cat([d, last.to(d.device)]), len(d)""",
    ),
    "cpu_last": (
        "mixed",
        """last = torch.tensor([int(p[-1].argmax())])
    return torch.cat([d, last]), len(d)""",
    ),
    "numpy_choice": (
        "numpy",
        """last = np.random.default_rng(0).choice(len(p[-1]), p=p[-1])
    return torch.cat([d, torch.tensor([last]).to(d)]), len(d)""",
    ),
}

# Programs about the module itself, each in a fork of a process that has imported torch and
# `simdevice` and not called install().
PROGRAMS = {
    "import_changes_nothing": """
from torch.overrides import _get_current_function_mode_stack as modes
assert simdevice.available() is None
assert torch._C._get_privateuse1_backend_name() == "privateuseone"
assert torch.Generator is torch._C.Generator and not modes() and not hasattr(torch, "sim")
""",
    "not_installed": """
try:
    simdevice.to_device(torch.ones(2))
except RuntimeError as error:
    assert "call install() first" in str(error)
else:
    raise AssertionError("no error")
""",
    "install_twice": """
simdevice.install()
simdevice.install()
a = simdevice.to_device(torch.tensor([1.0, 2.0]))
assert (a + torch.ones(2, device="sim")).tolist() == [2.0, 3.0]
""",
    "memory_and_geometry": """
simdevice.install()
wide = torch.arange(12.0).reshape(3, 4)
column = wide[:, 2]
a = simdevice.to_device(column)
def storage(tensor):
    return simdevice.host(tensor).untyped_storage().data_ptr()
assert simdevice.host(a) is column and simdevice.to_device(a) is a
assert (a.stride(), a.storage_offset(), a.shape) == ((4,), 2, (3,))
assert storage(a) == storage(a[1:]) == wide.untyped_storage().data_ptr() != storage(a + 0)
a[0] = 70
assert wide[0, 2] == 70
uniform = simdevice.to_device(torch.tensor([0.25]).expand(4))
assert uniform.stride() == (0,) and uniform.sum().item() == 1
""",
    "flags": """
simdevice.install()
grows = simdevice.to_device(torch.ones(2, requires_grad=True))
assert grows.requires_grad and grows.is_leaf and not simdevice.host(grows).requires_grad
with torch.inference_mode():
    frozen = torch.ones(2)
still = simdevice.to_device(frozen)
assert still.is_inference() and simdevice.host(still) is frozen
try:
    still.add_(1)
except RuntimeError as error:
    assert "Inplace update to inference tensor outside InferenceMode" in str(error)
else:
    raise AssertionError("no error")
""",
    "is_simulated": """
simdevice.install()
plain = torch.ones(2)
assert simdevice.is_simulated(simdevice.to_device(plain))
assert not any(map(simdevice.is_simulated, (plain, None, [1], simdevice.to_device(plain).cpu())))
for value in (plain, 3):
    try:
        simdevice.host(value)
    except TypeError as error:
        assert "host takes a tensor on sim:0" in str(error)
    else:
        raise AssertionError("no error")
""",
    "nothing_heavy_is_imported": """
before = set(sys.modules)
simdevice.install()
a = simdevice.to_device(torch.ones(3))
(a / a.sum()).tolist()
assert set(sys.modules) - before == {"torch.sim"}
""",
    "old_torch": """
del torch.utils.backend_registration._setup_privateuseone_for_python_backend
reason = simdevice.available()
assert reason.startswith("torch ") and reason.endswith(".")
try:
    simdevice.install()
except RuntimeError as error:
    assert reason in str(error)
else:
    raise AssertionError("no error")
""",
    "name_is_taken": """
torch.utils.rename_privateuse1_backend("other")
assert "already taken by the backend 'other'" in simdevice.available()
""",
}


# --- the program ----------------------------------------------------------------------------------


def forked(program, names):
    """None if the program runs in a fork of this process, else the last line it died with."""
    import os
    import traceback

    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        text = b""
        try:
            exec(program, dict(names))
        except BaseException:
            text = traceback.format_exc().encode()[-2000:]
        os.write(writer, text)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read().decode()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return text or (f"ended with status {status}" if status else None)


def inputs(torch, put, device, kind):
    """The names a row may use, made anew for every row so that no row sees another's effects."""
    import copy
    import math

    import numpy as np

    float32 = {
        "x": [[1.0, 2.0, 3.0], [0.5, 1.5, 2.5]],
        "y": [[2.0, 1.0, 0.5], [3.0, 0.25, 4.0]],
        "v": [1.0, 2.0, 4.0],
        "m": [[2.0, 1.0, 0.0], [0.5, 3.0, 1.0], [1.0, 0.0, 4.0]],
        "p": [[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.375, 0.125]],
        "s": 2.5,
    }
    made = {name: put(torch.tensor(values)) for name, values in float32.items()}

    def unmoved(draw):
        before = torch.get_rng_state()
        draw()
        return torch.equal(before, torch.get_rng_state())

    def inside(make):
        with torch.device(device):
            return make()

    def seeded(draw):
        torch.manual_seed(3)
        first = draw()
        torch.manual_seed(3)
        return torch.equal(first, draw())

    return made | {
        "n": put(torch.tensor([[0, 1, 2], [2, 1, 0]])),
        "i": put(torch.tensor([1, 0])),
        "b": put(torch.tensor([[True, False, True], [False, True, True]])),
        "h": put(torch.tensor([0.5, 0.25, 0.75], dtype=torch.float16)),
        "w": put(torch.tensor([1.0, 3.0])).requires_grad_(),
        "g": torch.Generator(device=device).manual_seed(0),
        "g2": torch.Generator(device=device).manual_seed(0),
        "cg": torch.Generator().manual_seed(0),
        "cpu": lambda tensor: tensor.cpu(),
        "dev": device,
        "kind": kind,
        "torch": torch,
        "F": torch.nn.functional,
        "np": np,
        "math": math,
        "copy": copy,
        "inside": inside,
        "unmoved": unmoved,
        "seeded": seeded,
    }


def difference(torch, got, expected, device, exact):
    """None if `got` is `expected` made on `device`, else what differs."""
    if isinstance(expected, torch.Tensor):
        if not isinstance(got, torch.Tensor):
            return f"got {type(got).__name__}, expected a tensor"
        if str(got.device) != device:
            return f"on {got.device}"
        for name in ("dtype", "shape", "requires_grad", "is_leaf"):
            if getattr(got, name) != getattr(expected, name):
                return f"{name} {getattr(got, name)}, expected {getattr(expected, name)}"
        if exact:
            for name in ("stride", "storage_offset", "is_inference", "is_contiguous", "_is_view"):
                if getattr(got, name)() != getattr(expected, name)():
                    return f"{name} {getattr(got, name)()}, expected {getattr(expected, name)()}"
        tolerance = {"rtol": 0, "atol": 0} if exact else {"rtol": 1e-3, "atol": 1e-4}
        try:
            torch.testing.assert_close(
                got.detach().cpu(), expected.detach(), equal_nan=True, **tolerance
            )
        except AssertionError:
            return f"{got.tolist()}, expected {expected.tolist()}"
        return None
    if isinstance(expected, dict):
        got, expected = [*got.keys(), *got.values()], [*expected.keys(), *expected.values()]
    if isinstance(expected, (list, tuple)) and not isinstance(expected, torch.Size):
        if type(got) is not type(expected) or len(got) != len(expected):
            return f"{got!r}, expected {expected!r}"
        found = (difference(torch, a, e, device, exact) for a, e in zip(got, expected, strict=True))
        return next((text for text in found if text), None)
    if type(got) is not type(expected) or got != expected:
        return f"{got!r}, expected {expected!r}"
    return None


def shadow(torch, tensor, simdevice):
    """Shell and host must agree on their geometry: C++ computes views from the shell's."""
    if simdevice is None or not simdevice.is_simulated(tensor):
        return None
    plain = simdevice.host(tensor)
    for name in ("size", "stride", "storage_offset"):
        if getattr(plain, name)() != getattr(tensor, name)():
            return f"{name} is {getattr(tensor, name)()}, its host's {getattr(plain, name)()}"
    return None


def main(kind):
    """Run every table on the device `kind` and write what is wrong with each row."""
    import json
    import sys
    import warnings
    from pathlib import Path

    import torch

    device, simdevice, put = f"{kind}:0", None, lambda tensor: tensor.to(f"{kind}:0")
    programs = {}
    if kind == "sim":
        sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "grader" / "worker"))
        import simdevice

        if simdevice.available():
            json.dump({"unavailable": simdevice.available()}, sys.stdout)
            return
        names = {"torch": torch, "simdevice": simdevice, "sys": sys}
        programs = {name: forked(text, names) for name, text in PROGRAMS.items()}
        simdevice.install()
        put = simdevice.to_device
    exact = kind == "sim"
    warnings.simplefilter("ignore")

    def on_device():
        return inputs(torch, put, device, kind)

    def on_cpu():
        return inputs(torch, lambda tensor: tensor, "cpu", "cpu")

    def draws(row):
        return "generator=g" in row or "(x, g)" in row

    def same(row):
        if not exact and draws(row):  # another algorithm, so other numbers
            got = eval(row, on_device())
            return None if str(got.device) == device else f"on {got.device}"
        got, expected = eval(row, on_device()), eval(row, on_cpu())
        found = [shadow(torch, tensor, simdevice) for tensor in flat(torch, got)]
        return difference(torch, got, expected, device, exact) or next(filter(None, found), None)

    def in_place(row):
        names = on_device()
        got = eval(row, names)
        if got is not names["x"]:
            return "the answer is not the object `x`"
        if not exact and draws(row):
            return None
        expected = eval(row, on_cpu())
        return difference(torch, got, expected, device, exact) or shadow(torch, got, simdevice)

    def statement(row):
        names, plain = on_device(), on_cpu()
        exec(row, names)
        exec(row, plain)
        got, expected = names["x"], plain["x"]
        return difference(torch, got, expected, device, exact) or shadow(torch, got, simdevice)

    def raises(row):
        kind_of_error, message = RAISES[row]
        try:
            got = eval(row, on_device())
        except Exception as error:
            named = any(base.__name__ == kind_of_error for base in type(error).__mro__)
            wanted = message.format(dev=device, kind=kind)
            return None if named and wanted in str(error) else f"{type(error).__name__}: {error}"
        return f"no error, got {got!r}"

    def holds(row):
        got = eval(row, on_device())
        return None if bool(got) else f"got {got!r}"

    def function(template, body, arguments, tensor_of, wrong):
        names = {"torch": torch, "np": on_cpu()["np"]}
        exec(template.replace("{body}", body), names)
        entry = names["speculative_decode_step"]
        for case in arguments:
            plain = [torch.tensor(a) if isinstance(a, list) else a for a in case]
            moved = [put(a.clone()) if isinstance(a, torch.Tensor) else a for a in plain]
            before = [a.tolist() if isinstance(a, torch.Tensor) else a for a in moved]
            if "generator" in template:
                plain.append(torch.Generator().manual_seed(0))
                moved.append(torch.Generator(device=device).manual_seed(0))
            try:
                got = entry(*moved)
            except Exception as error:
                kinds = {
                    "mixed": "same device",
                    "numpy": "device type tensor to numpy",
                    "generator": "device type for generator",
                }
                if wrong in kinds and kinds[wrong] in str(error):
                    return None
                return f"{type(error).__name__}: {error}"
            if wrong == "device":
                return None if tensor_of(got).device.type == "cpu" else "on the device after all"
            if wrong:
                return f"no error, got {got!r}"
            if before != [a.tolist() if isinstance(a, torch.Tensor) else a for a in moved][:3]:
                return "an argument changed"
            if not exact and "generator" in template:
                if str(tensor_of(got).device) != device:
                    return f"on {tensor_of(got).device}"
                continue
            found = difference(torch, got, entry(*plain), device, exact)
            if found:
                return found
        return None

    rows = [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.125, 0.75, 0.125]]
    verify_cases = [(rows[0], rows[1], t) for t in range(3)]
    equal_case = (rows[0], rows[0], 1)
    step_cases = [(rows[:2], rows, [a, b]) for a in range(3) for b in range(3)]

    def verify(name, body, wrong):
        cases = verify_cases if wrong else [*verify_cases, equal_case]
        return function(VERIFY, body, cases, lambda got: got["residual"], wrong)

    def step(name, body, wrong):
        return function(STEP, body, step_cases, lambda got: got[0], wrong)

    def guarded(run, *arguments):
        try:
            return run(*arguments)
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    report = {
        "cuda": torch.cuda.is_available(),
        "PROGRAMS": programs,
        "SAME": {row: guarded(same, row) for row in SAME},
        "IN_PLACE": {row: guarded(in_place, row) for row in IN_PLACE},
        "STATEMENTS": {row: guarded(statement, row) for row in STATEMENTS},
        "RAISES": {row: guarded(raises, row) for row in RAISES},
        "HOLDS": {row: guarded(holds, row) for row in HOLDS},
        "VERIFY_RIGHT": {k: guarded(verify, k, body, "") for k, body in VERIFY_RIGHT.items()},
        "VERIFY_WRONG": {k: guarded(verify, k, body, w) for k, (w, body) in VERIFY_WRONG.items()},
        "STEP_RIGHT": {k: guarded(step, k, body, "") for k, body in STEP_RIGHT.items()},
        "STEP_WRONG": {k: guarded(step, k, body, w) for k, (w, body) in STEP_WRONG.items()},
    }
    json.dump(report, sys.stdout)


def flat(torch, value):
    """The tensors in an answer."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in flat(torch, item)]
    return []


if __name__ == "__main__":
    import sys

    main(sys.argv[1])
