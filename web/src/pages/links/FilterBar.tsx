import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { LinkDoes } from '@terse/contract/link-fields'
import { useState } from 'react'
import {
  ARCHIVED_FILTERS,
  type ArchivedFilter,
  addDays,
  isFiltered,
  LINK_DOES,
  LINK_SORTS,
  LINK_STATES,
  type LinkFilter,
  type LinkState,
  NO_FILTER,
} from '../../api/link-filter.ts'
import { exportLinks } from '../../api/links.ts'
import { frequentTagsQuery } from '../../api/tags.ts'
import { ColumnsIcon, CommandIcon, DownloadIcon, SortIcon } from '../../icons/index.ts'
import { paletteOpen } from '../../shell/Page.tsx'
import { SearchField } from '../../shell/SearchField.tsx'
import { keysText } from '../../shell/shortcuts.ts'
import { useChange } from '../../shell/use-faults.ts'
import { usePreference } from '../../state/preference.ts'
import type { Catalogue } from '../../text/en.ts'
import type { Formats } from '../../text/formats.ts'
import { browserTimeZone, dateIn } from '../../text/time-zone.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { Button, IconButton } from '../../widgets/Button.tsx'
import { Chip, FilterChip } from '../../widgets/Chip.tsx'
import { shortDestination } from '../../widgets/destination-parts.ts'
import { Field, Input } from '../../widgets/Field.tsx'
import { Menu, MenuCheck, MenuChoice, MenuGroup, Popover } from '../../widgets/Menu.tsx'
import { saveFile } from '../../widgets/save-file.ts'
import { DomainFilter } from './DomainFilter.tsx'
import { COLUMNS, columns, setColumn } from './LinksTable.tsx'

const route = getRouteApi('/shell/links')

type FilterBarProps = {
  readonly filter: LinkFilter
}

/** Changes the filter. Every change is in the address, and begins at the first page. */
function useSetFilter(): (change: LinkFilter) => void {
  const navigate = route.useNavigate()
  return (change) =>
    void navigate({ search: (before) => ({ ...before, ...change, page: undefined }) })
}

/** The search of the list, in the top bar; the palette has a button beside it. */
export function LinkSearch({ filter }: FilterBarProps) {
  const t = useText()
  const set = useSetFilter()
  return (
    <div className="find-links">
      <SearchField
        className="tool-search"
        aria-label={t.links.search}
        placeholder={t.links.searchHint}
        value={filter.search ?? ''}
        onChange={(search) => set({ search })}
      />
      <IconButton
        icon={CommandIcon}
        label={t.shortcuts.palette}
        shortcut={keysText('mod+k')}
        onClick={() => paletteOpen.set(true)}
      />
    </div>
  )
}

/** Chips, order and columns. */
export function FilterBar({ filter }: FilterBarProps) {
  const t = useText()
  const chosen = usePreference(columns)
  const set = useSetFilter()
  return (
    <div className="tools" role="toolbar" aria-label={t.links.filters}>
      <DomainFilter
        value={filter.domain ?? []}
        onChange={(domain) => set({ domain: someOf(domain) })}
      />
      <CreatedFilter
        from={filter.created_from}
        to={filter.created_to}
        onChange={({ from, to }) => set({ created_from: from, created_to: to })}
      />
      <TagFilter value={filter.tag ?? []} onChange={(tag) => set({ tag: someOf(tag) })} />
      <StateFilter value={filter.state} onChange={(state) => set({ state })} />
      <DoesFilter value={filter.does ?? []} onChange={(does) => set({ does: someOf(does) })} />
      <ArchivedFilterChip value={filter.archived} onChange={(archived) => set({ archived })} />
      {filter.managed_by !== undefined && (
        <FilterChip
          name={t.managed.set}
          values={[filter.managed_by]}
          onRemove={() => set({ managed_by: undefined })}
        />
      )}
      {filter.url !== undefined && (
        <FilterChip
          name={t.linkForm.destination}
          values={[shortDestination(filter.url)]}
          onRemove={() => set({ url: undefined })}
        />
      )}
      {isFiltered(filter) && (
        <Chip isQuiet onClick={() => set(NO_FILTER)}>
          {t.common.clear}
        </Chip>
      )}
      <div className="end">
        <Menu
          trigger={
            <Button size="small" look="bare" icon={SortIcon}>
              {t.links.sorts[filter.sort ?? '-created_at']}
            </Button>
          }
        >
          <MenuChoice
            label={t.links.sort}
            value={filter.sort ?? '-created_at'}
            choices={LINK_SORTS.map((sort) => [sort, t.links.sorts[sort]] as const)}
            onChange={(sort) => set({ sort: sort === '-created_at' ? undefined : sort })}
          />
        </Menu>
        <Menu
          trigger={
            <Button size="small" look="bare" icon={ColumnsIcon} className="desk">
              {t.links.columns}
            </Button>
          }
        >
          <MenuGroup label={t.links.columns}>
            {COLUMNS.map((column) => (
              <MenuCheck
                key={column}
                isChecked={chosen.has(column)}
                onChange={(isShown) => setColumn(column, isShown)}
              >
                {t.links.column[column]}
              </MenuCheck>
            ))}
          </MenuGroup>
        </Menu>
        <DownloadButton filter={filter} />
      </div>
    </div>
  )
}

/** Saves the links that match as CSV. */
function DownloadButton({ filter }: FilterBarProps) {
  const t = useText()
  const { mutate, isPending } = useChange(
    async () => saveFile(await exportLinks(filter), 'links.csv'),
    { keys: [], message: () => t.links.downloaded },
  )
  return (
    <IconButton
      icon={DownloadIcon}
      label={t.links.download}
      isBusy={isPending}
      onClick={() => mutate(undefined)}
    />
  )
}

type StateFilterProps = {
  readonly value: LinkState | undefined
  readonly onChange: (state: LinkState | undefined) => void
}

function StateFilter({ value, onChange }: StateFilterProps) {
  const t = useText()
  return (
    <FilterChip
      name={t.links.state}
      values={value === undefined ? [] : [t.links.states[value]]}
      onRemove={() => onChange(undefined)}
      layer={(trigger) => (
        <Menu trigger={trigger} align="start">
          <MenuChoice<LinkState | ''>
            label={t.links.state}
            value={value ?? ''}
            choices={LINK_STATES.map((state) => [state, t.links.states[state]] as const)}
            onChange={(state) => onChange(state === '' ? undefined : state)}
          />
        </Menu>
      )}
    />
  )
}

type ArchivedFilterProps = {
  readonly value: ArchivedFilter | undefined
  readonly onChange: (archived: ArchivedFilter | undefined) => void
}

/** Archived links, which the list leaves out otherwise. */
function ArchivedFilterChip({ value, onChange }: ArchivedFilterProps) {
  const t = useText()
  return (
    <FilterChip
      name={t.links.archived}
      values={value === undefined ? [] : [t.links.archivedFilters[value]]}
      onRemove={() => onChange(undefined)}
      layer={(trigger) => (
        <Menu trigger={trigger} align="start">
          <MenuChoice<ArchivedFilter | ''>
            label={t.links.archived}
            value={value ?? ''}
            choices={ARCHIVED_FILTERS.map((one) => [one, t.links.archivedChoices[one]] as const)}
            onChange={(archived) => onChange(archived === '' ? undefined : archived)}
          />
        </Menu>
      )}
    />
  )
}

type TagFilterProps = {
  readonly value: readonly string[]
  readonly onChange: (tags: readonly string[]) => void
}

/** Several tags, all of which a link has. */
function TagFilter({ value, onChange }: TagFilterProps) {
  const t = useText()
  const { data: known = [] } = useQuery(frequentTagsQuery)
  const tags = [...new Set([...known, ...value])].toSorted()
  if (tags.length === 0) return null
  return (
    <FilterChip
      name={t.links.tag}
      values={value}
      onRemove={() => onChange([])}
      layer={(trigger) => (
        <Menu trigger={trigger} align="start">
          <MenuGroup label={t.links.tag}>
            {tags.map((tag) => (
              <MenuCheck
                key={tag}
                isChecked={value.includes(tag)}
                onChange={(isChosen) =>
                  onChange(isChosen ? [...value, tag] : value.filter((one) => one !== tag))
                }
              >
                {tag}
              </MenuCheck>
            ))}
          </MenuGroup>
        </Menu>
      )}
    />
  )
}

type DoesFilterProps = {
  readonly value: readonly LinkDoes[]
  readonly onChange: (does: readonly LinkDoes[]) => void
}

/** What links do besides redirecting, all of it. */
function DoesFilter({ value, onChange }: DoesFilterProps) {
  const t = useText()
  return (
    <FilterChip
      name={t.links.does}
      values={value.map((one) => t.links.doesWords[one])}
      onRemove={() => onChange([])}
      layer={(trigger) => (
        <Menu trigger={trigger} align="start">
          <MenuGroup label={t.links.does}>
            {LINK_DOES.map((one) => (
              <MenuCheck
                key={one}
                isChecked={value.includes(one)}
                onChange={(isChosen) =>
                  onChange(isChosen ? [...value, one] : value.filter((other) => other !== one))
                }
              >
                {t.links.doesWords[one]}
              </MenuCheck>
            ))}
          </MenuGroup>
        </Menu>
      )}
    />
  )
}

/** An empty list is no filter. */
function someOf<T extends string>(values: readonly T[]): readonly T[] | undefined {
  return values.length === 0 ? undefined : values
}

/** Days as `YYYY-MM-DD`; an end that is undefined is open. */
type Days = { readonly from: string | undefined; readonly to: string | undefined }

type CreatedFilterProps = Days & { readonly onChange: (days: Days) => void }

/** The first and the last day on which a link was created. */
function CreatedFilter({ from, to, onChange }: CreatedFilterProps) {
  const t = useText()
  const text = daysText({ from, to }, useFormats(), t)
  return (
    <FilterChip
      name={t.links.column.created_at}
      values={text === undefined ? [] : [text]}
      onRemove={() => onChange({ from: undefined, to: undefined })}
      layer={(trigger) => (
        <Popover trigger={trigger} label={t.links.column.created_at}>
          {(close) => (
            <DaysForm
              from={from}
              to={to}
              onChange={(days) => {
                onChange(days)
                close()
              }}
            />
          )}
        </Popover>
      )}
    />
  )
}

function DaysForm({ onChange, ...days }: CreatedFilterProps) {
  const t = useText()
  const [from, setFrom] = useState(days.from ?? '')
  const [to, setTo] = useState(days.to ?? '')
  const zone = browserTimeZone()
  const today = dateIn(zone, new Date())
  const periods = [
    [t.links.lastDays(7), addDays(today, -6)],
    [t.links.lastDays(30), addDays(today, -29)],
    [t.links.thisYear, `${today.slice(0, 4)}-01-01`],
  ] as const
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const [first, last] = from !== '' && to !== '' && from > to ? [to, from] : [from, to]
        onChange({ from: first || undefined, to: last || undefined })
      }}
    >
      <div className="pick-l">
        {periods.map(([name, since]) => (
          <button
            key={name}
            type="button"
            className="op"
            onClick={() => onChange({ from: since, to: undefined })}
          >
            {name}
          </button>
        ))}
        <hr className="menu-s" />
        <div className="days">
          <Field label={t.links.createdFrom}>
            {(control) => (
              <Input
                {...control}
                type="date"
                value={from}
                max={today}
                onChange={(event) => setFrom(event.target.value)}
              />
            )}
          </Field>
          <Field label={t.links.createdTo}>
            {(control) => (
              <Input
                {...control}
                type="date"
                value={to}
                onChange={(event) => setTo(event.target.value)}
              />
            )}
          </Field>
        </div>
      </div>
      <div className="f">
        <span>{t.links.timesIn(zone.replace(/^.*\//, '').replaceAll('_', ' '))}</span>
        <Button type="submit" size="small">
          {t.links.apply}
        </Button>
      </div>
    </form>
  )
}

/** "since 1 Sep"; undefined where both ends are open. */
export function daysText({ from, to }: Days, formats: Formats, t: Catalogue): string | undefined {
  const name = (day: string) => formats.day(new Date(`${day}T00:00`))
  if (from === undefined) return to === undefined ? undefined : t.links.createdUntil(name(to))
  return to === undefined ? t.links.createdSince(name(from)) : `${name(from)} – ${name(to)}`
}
