import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { domainsQuery } from '../../api/domains.ts'
import { exportLinks } from '../../api/link-exports.ts'
import {
  isFiltered,
  LINK_SORTS,
  LINK_STATES,
  type LinkFilter,
  type LinkState,
  NO_FILTER,
} from '../../api/link-filter.ts'
import { frequentTagsQuery } from '../../api/tags.ts'
import { Icon } from '../../icons/Icon.tsx'
import { AddIcon, CloseIcon, ColumnsIcon, DownloadIcon, SortIcon } from '../../icons/index.ts'
import { SearchField } from '../../shell/SearchField.tsx'
import { useChange } from '../../shell/use-change.ts'
import { useServiceHost } from '../../shell/use-service-host.ts'
import { usePreference } from '../../state/preference.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { IconButton } from '../../widgets/IconButton.tsx'
import { Menu, MenuCheck, MenuChoice, MenuGroup } from '../../widgets/Menu.tsx'
import { saveFile } from '../../widgets/save-file.ts'
import { COLUMNS, columns, setColumn } from './columns.ts'

const route = getRouteApi('/shell/links')

type FilterBarProps = {
  readonly filter: LinkFilter
}

/** Search, chips, order and columns. Every change is in the address, and begins at the first page. */
export function FilterBar({ filter }: FilterBarProps) {
  const t = useText()
  const navigate = route.useNavigate()
  const chosen = usePreference(columns)
  const set = (change: LinkFilter) =>
    void navigate({ search: (before) => ({ ...before, ...change, page: undefined }) })
  return (
    <div className="tools" role="toolbar" aria-label={t.links.filters}>
      <SearchField
        label={t.links.search}
        placeholder={t.links.searchHint}
        value={filter.search ?? ''}
        onChange={(search) => set({ search })}
      />
      <DomainChip value={filter.domain} onChange={(domain) => set({ domain })} />
      <TagChips value={filter.tag ?? []} onChange={(tag) => set({ tag })} />
      <StateChip value={filter.state} onChange={(state) => set({ state })} />
      {filter.url !== undefined && (
        <SetChip
          name={t.linkForm.destination}
          value={filter.url}
          onRemove={() => set({ url: undefined })}
        />
      )}
      {isFiltered(filter) && (
        <button className="chip add" type="button" onClick={() => set(NO_FILTER)}>
          {t.common.clear}
        </button>
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

type StateChipProps = {
  readonly value: LinkState | undefined
  readonly onChange: (state: LinkState | undefined) => void
}

function StateChip({ value, onChange }: StateChipProps) {
  const t = useText()
  if (value !== undefined) {
    const name = t.links.states[value]
    return <SetChip name={t.links.state} value={name} onRemove={() => onChange(undefined)} />
  }
  return (
    <Menu trigger={<AddChip name={t.links.state} />} align="start">
      <MenuChoice<LinkState | ''>
        label={t.links.state}
        value=""
        choices={LINK_STATES.map((state) => [state, t.links.states[state]] as const)}
        onChange={(state) => onChange(state === '' ? undefined : state)}
      />
    </Menu>
  )
}

type DomainChipProps = {
  readonly value: string | undefined
  readonly onChange: (domain: string | undefined) => void
}

function DomainChip({ value, onChange }: DomainChipProps) {
  const t = useText()
  const ownHost = useServiceHost()
  const { data: domains = [] } = useQuery(domainsQuery)
  if (value !== undefined) {
    return <SetChip name={t.links.domain} value={value} onRemove={() => onChange(undefined)} />
  }
  const hosts = [...new Set([ownHost, ...domains.map(({ domain }) => domain)])]
  return (
    <Menu trigger={<AddChip name={t.links.domain} />} align="start">
      <MenuChoice
        label={t.links.domain}
        value=""
        choices={hosts.map((host) => [host, host] as const)}
        onChange={onChange}
      />
    </Menu>
  )
}

type TagChipsProps = {
  readonly value: readonly string[]
  readonly onChange: (tags: readonly string[] | undefined) => void
}

function TagChips({ value, onChange }: TagChipsProps) {
  const t = useText()
  const set = (tags: readonly string[]) => onChange(tags.length === 0 ? undefined : tags)
  const { data: known = [] } = useQuery(frequentTagsQuery)
  const others = known.filter((tag) => !value.includes(tag))
  return (
    <>
      {value.map((tag) => (
        <SetChip
          key={tag}
          name={t.links.tag}
          value={tag}
          onRemove={() => set(value.filter((one) => one !== tag))}
        />
      ))}
      {others.length > 0 && (
        <Menu trigger={<AddChip name={t.links.tag} />} align="start">
          <MenuChoice
            label={t.links.tag}
            value=""
            choices={others.toSorted().map((tag) => [tag, tag] as const)}
            onChange={(tag) => set([...value, tag])}
          />
        </Menu>
      )}
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

type SetChipProps = {
  readonly name: string
  readonly value: string
  readonly onRemove: () => void
}

function SetChip({ name, value, onRemove }: SetChipProps) {
  const t = useText()
  return (
    <span className="chip on">
      <span>{name}</span>
      <b>{value}</b>
      <button
        type="button"
        aria-label={t.links.removeFilter(`${name} ${value}`)}
        onClick={onRemove}
      >
        <Icon of={CloseIcon} />
      </button>
    </span>
  )
}
