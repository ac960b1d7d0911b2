import { useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type LinkResource, linkQuery, linkSearchQuery } from '../../api/links.ts'
import { SearchIcon } from '../../icons/index.ts'
import { useSettled } from '../../state/use-settled.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Destination } from '../../widgets/Destination.tsx'
import { Dialog } from '../../widgets/Dialog.tsx'
import { Field, Input } from '../../widgets/Field.tsx'
import { LinkName } from '../../widgets/LinkName.tsx'
import { COMPARED_LINKS_MAX, toggled } from './analytics-search.ts'
import { useChange } from './use-change.ts'

type LinkPickerProps = {
  readonly chosen: readonly string[]
  readonly onClose: () => void
}

/** Chooses the links that are compared: those that are chosen first, then what a search finds. */
export function LinkPicker({ chosen, onClose }: LinkPickerProps) {
  const t = useText()
  const change = useChange()
  const [search, setSearch] = useState('')
  const [ids, setIds] = useState(chosen)
  const { data: found = [] } = useQuery(linkSearchQuery(useSettled(search.trim())))
  const picked = useQueries({ queries: ids.map((id) => linkQuery(id)) }).flatMap(
    ({ data }) => data ?? [],
  )
  const links = [...picked, ...found.filter(({ id }) => !ids.includes(id))]
  function submit() {
    change({ link: ids.length === 0 ? undefined : ids })
    onClose()
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t.analytics.compareLinks}
      description={t.analytics.compareHint}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button look="ink" type="submit">
            {t.analytics.show}
          </Button>
        </>
      }
    >
      <Field label={t.links.search}>
        {(props) => (
          <Input
            {...props}
            type="search"
            icon={SearchIcon}
            placeholder={t.analytics.findLink}
            value={search}
            onChange={(event) => setSearch(event.target.value)}
          />
        )}
      </Field>
      <div className="link-picks">
        {links.map((link) => (
          <Pick
            key={link.id}
            link={link}
            isChosen={ids.includes(link.id)}
            isFull={ids.length >= COMPARED_LINKS_MAX}
            onToggle={() => setIds(toggled(ids, link.id) ?? [])}
          />
        ))}
        {links.length === 0 && <p className="muted">{t.analytics.noLinkFound}</p>}
      </div>
    </Dialog>
  )
}

type PickProps = {
  readonly link: LinkResource
  readonly isChosen: boolean
  readonly isFull: boolean
  readonly onToggle: () => void
}

function Pick({ link, isChosen, isFull, onToggle }: PickProps) {
  return (
    <label className="link-pick">
      <input
        className="cb"
        type="checkbox"
        checked={isChosen}
        disabled={isFull && !isChosen}
        onChange={onToggle}
      />
      <span className="name">
        <LinkName name={`${link.domain}/${link.key}`} />
      </span>
      <span className="url">
        <Destination url={link.url} />
      </span>
    </label>
  )
}
