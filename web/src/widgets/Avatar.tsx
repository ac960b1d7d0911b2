/** The initials of a name. The name itself stands beside it. */
export function Avatar({ name, isOwn = false }: { name: string; isOwn?: boolean }) {
  return (
    <span className={isOwn ? 'ava p a' : 'ava p'} aria-hidden>
      {initialsOf(name)}
    </span>
  )
}

function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/)
  const first = words.slice(0, 2).map((word) => [...word][0] ?? '')
  return first.join('').toUpperCase()
}
