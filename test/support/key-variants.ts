/**
 * Returns the key in another letter case for each number: bit by bit, a 1 makes a letter a capital
 * one.
 */
export function variantOf(key: string, number: number): string {
  return [...key]
    .map((letter, index) => ((number >> index) & 1 ? letter.toUpperCase() : letter))
    .join('')
}
