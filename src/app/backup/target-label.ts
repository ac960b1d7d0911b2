import path from 'node:path'

/** Returns the label of a target, as its records name it, without opening it. */
export function targetLabel(target: string): string {
  return target.includes('://') ? target : path.resolve(target)
}
