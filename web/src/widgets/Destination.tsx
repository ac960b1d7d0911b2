import { destinationParts } from './destination-parts.ts'

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
