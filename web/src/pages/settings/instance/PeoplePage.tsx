import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type AccountResource,
  changePerson,
  makeResetLink,
  peopleQuery,
} from '../../../api/instance.ts'
import { LockIcon, MoreIcon, SearchIcon, ShieldIcon } from '../../../icons/index.ts'
import { ConfirmDialog } from '../../../shell/ConfirmDialog.tsx'
import { LoadFailure } from '../../../shell/LoadFailure.tsx'
import { useChange } from '../../../shell/use-faults.ts'
import { useMembership } from '../../../shell/use-membership.ts'
import { useText } from '../../../text/use-text.ts'
import { Avatar } from '../../../widgets/Avatar.tsx'
import { IconButton } from '../../../widgets/Button.tsx'
import { Input } from '../../../widgets/Field.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../../widgets/Menu.tsx'
import { Ago } from '../../../widgets/Time.tsx'
import { ResetLinkDialog } from '../ResetLinkDialog.tsx'
import { RowsSkeleton, Section } from '../Section.tsx'

/** Fewer are seen at a glance. */
const SEARCHABLE_FROM = 8

/** Everyone with an account, for operators. */
export default function PeoplePage() {
  const t = useText()
  const { data: people, error } = useQuery(peopleQuery)
  const [search, setSearch] = useState('')
  const found = people?.filter((person) => matches(person, search))
  return (
    <Section title={t.instance.people} hint={t.instance.peopleHint} isFirst>
      {people === undefined && error === null && <RowsSkeleton />}
      {people === undefined && error !== null && <LoadFailure error={error} />}
      {people !== undefined && people.length >= SEARCHABLE_FROM && (
        <Input
          className="mb-3"
          type="search"
          icon={SearchIcon}
          aria-label={t.instance.search}
          placeholder={t.instance.search}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      )}
      {found?.length === 0 && <p className="muted">{t.settings.noResult}</p>}
      {found !== undefined && found.length > 0 && (
        <ul className="rows nw">
          {found.map((person) => (
            <PersonRow key={person.id} person={person} />
          ))}
        </ul>
      )}
    </Section>
  )
}

function matches({ name, email }: AccountResource, search: string): boolean {
  return `${name} ${email}`.toLowerCase().includes(search.trim().toLowerCase())
}

const KEYS = [peopleQuery.queryKey]

function PersonRow({ person }: { person: AccountResource }) {
  const t = useText()
  const { session } = useMembership()
  const isOwn = person.id === session.person.id
  return (
    <li>
      <Avatar name={person.name} isOwn={isOwn} />
      <span className="who">
        <b>
          {person.name} {isOwn && <span className="tag">{t.settings.you}</span>}{' '}
          {person.is_operator && <span className="tag">{t.instance.operator}</span>}
        </b>
        <span className="cut">
          {person.email}
          {!person.is_email_proved && <> · {t.instance.unproved}</>}
        </span>
      </span>
      <span className="col x">
        <State person={person} />
      </span>
      <PersonMenu person={person} isOwn={isOwn} />
    </li>
  )
}

function State({ person }: { person: AccountResource }) {
  const t = useText()
  if (person.is_disabled) return <span className="badge warn">{t.instance.disabled}</span>
  if (person.last_seen_at === null) return t.instance.neverSeen
  return <Ago instant={new Date(person.last_seen_at)} />
}

function PersonMenu({ person, isOwn }: { person: AccountResource; isOwn: boolean }) {
  const t = useText()
  const [open, setOpen] = useState<'reset' | 'disable'>()
  const { name } = person
  const { mutate: enable } = useChange(() => changePerson(person.id, { is_disabled: false }), {
    keys: KEYS,
    message: () => t.instance.enabledNow(name),
  })
  const { mutate: setOperator } = useChange(
    (isOperator: boolean) => changePerson(person.id, { is_operator: isOperator }),
    {
      keys: KEYS,
      message: (isOperator) =>
        isOperator ? t.instance.operatorNow(name) : t.instance.noOperatorNow(name),
    },
  )
  return (
    <>
      <Menu trigger={<IconButton icon={MoreIcon} label={t.settings.actionsFor(name)} />}>
        {!isOwn && (
          <MenuItem icon={LockIcon} onSelect={() => setOpen('reset')}>
            {t.members.resetLink}
          </MenuItem>
        )}
        <MenuItem icon={ShieldIcon} onSelect={() => setOperator(!person.is_operator)}>
          {person.is_operator ? t.instance.removeOperator : t.instance.makeOperator}
        </MenuItem>
        <MenuSeparator />
        {person.is_disabled ? (
          <MenuItem onSelect={() => enable(undefined)}>{t.instance.enable}</MenuItem>
        ) : (
          <MenuItem isDangerous onSelect={() => setOpen('disable')}>
            {t.instance.disable}
          </MenuItem>
        )}
      </Menu>
      {open === 'reset' && (
        <ResetLinkDialog
          name={name}
          make={() => makeResetLink(person.id)}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open === 'disable' && (
        <ConfirmDialog
          title={t.instance.disableTitle(name)}
          text={t.instance.disableText}
          verb={t.instance.disable}
          act={() => changePerson(person.id, { is_disabled: true })}
          keys={KEYS}
          message={t.instance.disabledNow(name)}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  )
}
