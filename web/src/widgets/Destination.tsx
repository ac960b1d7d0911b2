import { splitDestination } from './split-destination.ts'

/** A destination without scheme and `www.`, cut in the middle where it is too long; whole in its title. */
export function Destination({ url }: { url: string }) {
  const [head, tail] = splitDestination(url)
  return (
    <span className="dest mid" title={url}>
      <span>{head}</span>
      <span>{tail}</span>
    </span>
  )
}
