"""Targets as data: what tiling, code generation and the loader need to know about a machine.

Machine code depends on the name of the target alone, never on the machine that compiles: cache sizes are those that
every CPU of the level has, so that a tile chosen for them fits everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from gecc.errors import UnsupportedError


@dataclass(frozen=True)
class Target:
    """One machine that gecc compiles for.

    name: what `--target` takes and an om file states.
    machine: the architecture as `platform.machine()` spells it.
    triple, cpu, features: what LLVM's target machine is made from.
    vector_bits, vector_registers: width and number of the vector registers that a kernel may use.
    l1_bytes, l2_bytes: data caches of one core.
    line_bytes: a cache line.
    alignment: bytes to which buffers, weights and code sections are aligned.
    cpu_flags: features a CPU must have, as /proc/cpuinfo spells them.
    native: whether gecc generates machine code for it; a target that is not native can only be described.
    """

    name: str
    machine: str
    triple: str
    cpu: str
    features: str
    vector_bits: int
    vector_registers: int
    l1_bytes: int
    l2_bytes: int
    line_bytes: int
    alignment: int
    cpu_flags: tuple[str, ...]
    native: bool = True

    @property
    def vector_bytes(self) -> int:
        """Bytes of one vector register."""
        return self.vector_bits // 8

    @property
    def f32_lanes(self) -> int:
        """Number of f32 values in one vector register."""
        return self.vector_bits // 32

    def lanes(self, element_bits: int) -> int:
        """Number of elements of `element_bits` bits in one vector register."""
        return self.vector_bits // element_bits

    @property
    def function_attributes(self) -> str:
        """Attributes that every LLVM function of this target carries, as IR text."""
        return f'nounwind "prefer-vector-width"="{self.vector_bits}" "min-legal-vector-width"="{self.vector_bits}"'


_X86_64_V3_FLAGS = (
    *("cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"),
    *("abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"),
)

X86_64_V4 = Target(
    name="x86-64-v4",
    machine="x86_64",
    triple="x86_64-unknown-linux-gnu",
    cpu="x86-64-v4",
    # LLVM's tuning of this level keeps to 256-bit vectors for old Skylake clocks; our kernels want all 512 bits.
    features="-prefer-256-bit",
    vector_bits=512,
    vector_registers=32,
    l1_bytes=32 * 1024,
    l2_bytes=1024 * 1024,
    line_bytes=64,
    alignment=64,
    # A tile of R x C takes R*C/16 accumulators, C/16 registers for a row of B and one for a broadcast of A.
    cpu_flags=(*_X86_64_V3_FLAGS, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"),
)

X86_64_V3 = Target(
    name="x86-64-v3",
    machine="x86_64",
    triple="x86_64-unknown-linux-gnu",
    cpu="x86-64-v3",
    features="",
    vector_bits=256,
    vector_registers=16,
    l1_bytes=32 * 1024,
    l2_bytes=256 * 1024,
    line_bytes=64,
    alignment=64,
    cpu_flags=_X86_64_V3_FLAGS,
)

AARCH64 = Target(
    name="aarch64",
    machine="aarch64",
    triple="aarch64-unknown-linux-gnu",
    cpu="generic",
    features="+neon,+fp-armv8",
    vector_bits=128,
    vector_registers=32,
    l1_bytes=32 * 1024,
    l2_bytes=512 * 1024,
    line_bytes=64,
    alignment=64,
    cpu_flags=("asimd", "fp"),
    native=False,
)

TARGETS: dict[str, Target] = {target.name: target for target in (X86_64_V4, X86_64_V3, AARCH64)}
"""Every known target by name; of one machine, the most capable first."""


def load(name: str) -> Target:
    """The target called `name`.

    Raises UnsupportedError naming the known targets when there is none.
    """
    target = TARGETS.get(name)
    if target is None:
        raise UnsupportedError(f"target '{name}' is not known", hint=f"known targets: {', '.join(TARGETS)}")
    return target
