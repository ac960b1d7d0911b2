import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { LinkResource } from '../../api/links.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { CopyButton } from '../../widgets/CopyButton.tsx'
import { Ago } from '../../widgets/Time.tsx'
import { UTM_FIELDS } from '../link-form/link-draft.ts'

/** What is known of a link and does not lead anywhere else. */
export function LinkFacts({ link }: { link: LinkResource }) {
  const t = useText()
  const formats = useFormats()
  const utm = UTM_FIELDS.flatMap((field, nth) => {
    const value = link[field]
    return value === null ? [] : [{ field, nth, value }]
  })
  return (
    <dl className="facts">
      <Fact name={t.link.destination}>
        <span>{link.url}</span>
        <CopyButton text={link.url} label={t.link.copyDestination} />
      </Fact>
      {link.tags.length > 0 && (
        <Fact name={t.link.tags}>
          <span className="flex gap-1 flex-wrap">
            {link.tags.map((tag) => (
              <Link key={tag} className="tag" to="/links" search={{ tag: [tag] }}>
                {tag}
              </Link>
            ))}
          </span>
        </Fact>
      )}
      {utm.length > 0 && (
        <Fact name={t.link.utm}>
          <ul className="utm-list">
            {utm.map(({ field, nth, value }) => (
              <li key={field}>
                <span>
                  <span className={`utm-k b${nth + 1}`} />
                  {t.linkForm.utmFields[field]}
                </span>
                <span>{value}</span>
              </li>
            ))}
          </ul>
        </Fact>
      )}
      {link.external_id !== null && <Fact name={t.link.externalId}>{link.external_id}</Fact>}
      <Fact name={t.link.created} isHalf>
        {formats.minute(new Date(link.created_at))}
      </Fact>
      <Fact name={t.link.changed} isHalf>
        {formats.minute(new Date(link.updated_at))}
      </Fact>
      <Fact name={t.link.allClicks} isHalf>
        {formats.number(link.clicks ?? 0)}
      </Fact>
      <Fact name={t.link.lastClick} isHalf>
        {link.last_click === null ? (
          t.common.never
        ) : (
          <Ago instant={new Date(link.last_click * 1_000)} />
        )}
      </Fact>
      <Fact name={t.link.id}>
        <span className="mono">{link.id}</span>
        <CopyButton text={link.id} label={t.link.copyId} />
      </Fact>
    </dl>
  )
}

type FactProps = {
  readonly name: string
  /** Two such facts stand beside each other. */
  readonly isHalf?: boolean
  readonly children: ReactNode
}

function Fact({ name, isHalf = false, children }: FactProps) {
  return (
    <div className={isHalf ? 'half' : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
