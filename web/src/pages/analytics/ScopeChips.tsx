import { useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ClickScope } from '../../api/click-reads.ts'
import { domainsQuery } from '../../api/domains.ts'
import { linkQuery } from '../../api/links.ts'
import { frequentTagsQuery } from '../../api/tags.ts'
import { Icon } from '../../icons/Icon.tsx'
import { AddIcon, CompareIcon } from '../../icons/index.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Menu, MenuChoice } from '../../widgets/Menu.tsx'
import { RemovableChip } from './AnalyticsTools.tsx'
import { toggled } from './analytics-search.ts'
import { LinkPicker } from './LinkPicker.tsx'
import { useChange } from './use-change.ts'

/** Whose clicks are shown: of a domain, of links with tags, of links. */
export function ScopeChips({ scope }: { scope: ClickScope }) {
  return (
    <>
      <DomainChip domain={scope.domain} />
      <TagChips tags={scope.tags} />
      <LinkChips links={scope.links} />
    </>
  )
}

function DomainChip({ domain }: { domain: string | undefined }) {
  const t = useText()
  const change = useChange()
  const { data: domains = [] } = useQuery(domainsQuery)
  if (domain !== undefined) {
    const host = domains.find(({ id }) => id === domain)?.domain ?? domain
    return (
      <RemovableChip
        name={t.analytics.domain}
        value={host}
        onRemove={() => change({ domain: undefined })}
      />
    )
  }
  if (domains.length === 0) return null
  return (
    <Menu trigger={<AddChip name={t.analytics.domain} />} align="start">
      <MenuChoice
        label={t.analytics.domain}
        value=""
        choices={domains.map(({ id, domain: host }) => [id, host] as const)}
        onChange={(id) => change({ domain: id })}
      />
    </Menu>
  )
}

function TagChips({ tags }: { tags: readonly string[] }) {
  const t = useText()
  const change = useChange()
  const { data: frequent = [] } = useQuery(frequentTagsQuery)
  const others = frequent.filter((tag) => !tags.includes(tag))
  return (
    <>
      {tags.map((tag) => (
        <RemovableChip
          key={tag}
          name={t.analytics.dimension.tag}
          value={tag || t.analytics.untagged}
          onRemove={() => change({ tag: toggled(tags, tag) })}
        />
      ))}
      {others.length > 0 && (
        <Menu trigger={<AddChip name={t.analytics.dimension.tag} />} align="start">
          <MenuChoice
            label={t.analytics.dimension.tag}
            value=""
            choices={others.map((tag) => [tag, tag] as const)}
            onChange={(tag) => change({ tag: [...tags, tag] })}
          />
        </Menu>
      )}
    </>
  )
}

/** Compared links have their names beside their lines; a single one has a chip. */
function LinkChips({ links }: { links: readonly string[] }) {
  const t = useText()
  const change = useChange()
  const names = useLinkNames(links)
  if (links.length !== 1) return null
  return (
    <RemovableChip
      name={t.analytics.link}
      value={names[0] ?? ''}
      onRemove={() => change({ link: undefined })}
    />
  )
}

/** The short forms of links; the id of one that does not exist. */
export function useLinkNames(links: readonly string[]): readonly string[] {
  const answers = useQueries({ queries: links.map((id) => linkQuery(id)) })
  return answers.map(({ data, error }, nth) => {
    if (data !== undefined) return `${data.domain}/${data.key}`
    return error === null ? '' : (links[nth] ?? '')
  })
}

export function CompareButton({ links }: { links: readonly string[] }) {
  const t = useText()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button size="small" look="bare" icon={CompareIcon} onClick={() => setOpen(true)}>
        {t.analytics.compareLinks}
      </Button>
      {isOpen && <LinkPicker chosen={links} onClose={() => setOpen(false)} />}
    </>
  )
}

function AddChip({ name, ...props }: { name: string }) {
  return (
    <button className="chip add" type="button" {...props}>
      <Icon of={AddIcon} />
      {name}
    </button>
  )
}
