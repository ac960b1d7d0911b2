import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type AccountResource, peopleQuery } from '../../../api/people.ts'
import { SearchIcon } from '../../../icons/index.ts'
import { LoadFailure } from '../../../shell/LoadFailure.tsx'
import { useText } from '../../../text/use-text.ts'
import { Input } from '../../../widgets/Field.tsx'
import { RowsSkeleton } from '../RowsSkeleton.tsx'
import { Section } from '../Section.tsx'
import { PersonRow } from './PersonRow.tsx'

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
