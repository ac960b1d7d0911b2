import { destinationParts } from './destination-parts.ts'

/** A short link, whose host is cut before its key; `name` may be another text, which is cut at its end. */
export function LinkName({ name }: { name: string }) {
  const at = name.indexOf('/')
  return (
    // A role with a label: browsers put spaces between parts that are laid out apart.
    <span className="link-name" role="img" aria-label={name} title={name}>
      {at > 0 && (
        <>
          <span>{name.slice(0, at)}</span>
          <i>/</i>
        </>
      )}
      <b>{name.slice(at + 1)}</b>
    </span>
  )
}

/**
 * A destination without scheme and `www.`; whole in its title. Where it is too long, the query is cut first, then the
 * middle of the path, the front of a long host, and at last the end of the path.
 */
export function Destination({ url }: { url: string }) {
  const { front, domain, middle, last, query } = destinationParts(url)
  return (
    <span className="dest" title={url}>
      {front !== '' && (
        <span className="front">
          <bdi dir="ltr">{front}</bdi>
        </span>
      )}
      <span className="domain">{domain}</span>
      {middle !== '' && <span className="middle">{middle}</span>}
      <span className="last">{last}</span>
      {query !== '' && <span className="query">{query}</span>}
    </span>
  )
}
