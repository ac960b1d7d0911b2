/** Options that make a server write a CPU profile into the folder `BENCH_PROFILE`, where it is set. */
export function profilingOptions(): string[] {
  const folder = process.env.BENCH_PROFILE
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`]
}
