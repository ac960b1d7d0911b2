const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** Formats a number of bytes for people, such as `4.2 MiB`. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  return `${power === 0 ? value : value.toFixed(1)} ${UNITS[power]}`
}
