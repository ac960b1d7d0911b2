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
