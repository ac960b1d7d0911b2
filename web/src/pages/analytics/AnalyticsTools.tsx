import { useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type ClickScope, DIMENSIONS } from '../../api/click-reads.ts'
import { domainsQuery } from '../../api/domains.ts'
import { type LinkResource, linkQuery, linkSearchQuery } from '../../api/links.ts'
import { frequentTagsQuery } from '../../api/tags.ts'
import { Icon } from '../../icons/Icon.tsx'
import { CalendarIcon, ChevronDownIcon, CompareIcon, DomainIcon } from '../../icons/index.ts'
import { SearchField } from '../../shell/SearchField.tsx'
import { useShortcut } from '../../shell/shortcuts.ts'
import { useChartFormats } from '../../text/chart-formats.ts'
import { browserTimeZone, dateIn } from '../../text/time-zone.ts'
import { useText } from '../../text/use-text.ts'
import { Button } from '../../widgets/Button.tsx'
import { Chip, FilterChip } from '../../widgets/Chip.tsx'
import { FormDialog } from '../../widgets/Dialog.tsx'
import { Field, Input } from '../../widgets/Field.tsx'
import { Destination, LinkName } from '../../widgets/LinkName.tsx'
import { Menu, MenuChoice, MenuItem, MenuSeparator } from '../../widgets/Menu.tsx'
import {
  COMPARED_LINKS_MAX,
  COMPARISONS,
  NO_VALUES,
  PERIODS,
  type PeriodName,
  toggled,
} from './analytics-search.ts'
import { useAddressChange } from './ChangeLink.tsx'
import { useLinkNames, valueName } from './groups.ts'
import { useRuleNames } from './rule-names.ts'
import { rangeText } from './series-data.ts'
import { addDays, type View } from './view.ts'

/** Period, comparison, whose clicks are shown, filters and time zone. */
export function AnalyticsTools({ view }: { view: View }) {
  const t = useText()
  return (
    <div className="tools" role="toolbar" aria-label={t.analytics.filters}>
      <PeriodChip view={view} />
      {view.scope.links.length < 2 && <ComparisonChip view={view} />}
      <span className="sep desk" />
      <ScopeChips scope={view.scope} />
      <ValueChips view={view} />
      <div className="end">
        <TimeZoneMenu view={view} />
        <CompareButton links={view.scope.links} />
      </div>
    </div>
  )
}

/** As letters of the shortcuts. */
const PERIOD_KEYS: Readonly<Record<PeriodName, string>> = {
  today: 't',
  '7d': 'w',
  '30d': 'm',
  '90d': 'q',
  '12m': 'y',
}

/** A shortcut for a period. */
function PeriodKey({ period, onChoose }: { period: PeriodName; onChoose: () => void }) {
  useShortcut(PERIOD_KEYS[period], (text) => text.analytics.periods[period], onChoose)
  return null
}

export function PeriodChip({ view }: { view: View }) {
  const t = useText()
  const formats = useChartFormats(view.timezone)
  const change = useAddressChange()
  const [isOpen, setOpen] = useState(false)
  const { from, period = '30d' } = view.search
  function choose(chosen: string) {
    const next = PERIODS.find((one) => one === chosen && one !== '30d')
    change({ period: next, from: undefined, to: undefined, interval: undefined })
  }
  const name = from === undefined ? t.analytics.periods[period] : rangeText(view.period, formats)
  return (
    <>
      <Menu
        align="start"
        trigger={
          <Chip>
            <Icon of={CalendarIcon} />
            {name}
            <Icon of={ChevronDownIcon} />
          </Chip>
        }
      >
        <MenuChoice
          label={t.analytics.period}
          value={from === undefined ? period : 'custom'}
          choices={PERIODS.map((one) => [one, t.analytics.periods[one]] as const)}
          onChange={choose}
        />
        <MenuSeparator />
        <MenuItem icon={CalendarIcon} onSelect={() => setOpen(true)}>
          {t.analytics.custom}
        </MenuItem>
      </Menu>
      {PERIODS.map((one) => (
        <PeriodKey key={one} period={one} onChoose={() => choose(one)} />
      ))}
      {isOpen && <PeriodDialog view={view} onClose={() => setOpen(false)} />}
    </>
  )
}

export function ComparisonChip({ view }: { view: View }) {
  const t = useText()
  const change = useAddressChange()
  const value = view.search.compare ?? 'previous'
  return (
    <Menu
      align="start"
      trigger={
        <Chip>
          {t.analytics.comparisons[value]}
          <Icon of={ChevronDownIcon} />
        </Chip>
      }
    >
      <MenuChoice
        label={t.analytics.comparison}
        value={value}
        choices={COMPARISONS.map((one) => [one, t.analytics.comparisons[one]] as const)}
        onChange={(compare) => change({ compare: compare === 'previous' ? undefined : compare })}
      />
    </Menu>
  )
}

export function TimeZoneMenu({ view }: { view: View }) {
  const t = useText()
  const change = useAddressChange()
  const own = browserTimeZone()
  const zones = [...new Set([own, 'UTC', view.timezone])]
  return (
    <Menu
      trigger={
        <Button size="small" look="bare" icon={DomainIcon} className="relative">
          <span className="sr">{t.analytics.timezone}: </span>
          {view.timezone}
        </Button>
      }
    >
      <MenuChoice
        label={t.analytics.timezone}
        value={view.timezone}
        choices={zones.map((zone) => [zone, zone] as const)}
        onChange={(zone) => change({ timezone: zone === own ? undefined : zone })}
      />
    </Menu>
  )
}

/** The values that clicks are filtered by. */
export function ValueChips({ view }: { view: View }) {
  const t = useText()
  const formats = useChartFormats(view.timezone)
  const change = useAddressChange()
  const ruleName = useRuleNames(view.scope)
  const set = DIMENSIONS.flatMap((dimension) =>
    (view.filter[dimension] ?? []).map((value) => ({ dimension, value })),
  )
  return (
    <>
      {set.map(({ dimension, value }) => (
        <FilterChip
          key={`${dimension} ${value}`}
          name={t.analytics.dimension[dimension]}
          values={[ruleName(dimension, value) ?? valueName(dimension, value, formats, t)]}
          onRemove={() => change({ [dimension]: toggled(view.filter[dimension], value) })}
        />
      ))}
      {set.length > 1 && (
        <Chip isQuiet onClick={() => change(NO_VALUES)}>
          {t.analytics.clearFilters}
        </Chip>
      )}
    </>
  )
}

/** Two dates, both included. */
function PeriodDialog({ view, onClose }: { view: View; onClose: () => void }) {
  const t = useText()
  const change = useAddressChange()
  const dateOf = (bound: string) =>
    bound.length === 10 ? bound : dateIn(view.timezone, new Date(bound))
  const [first, setFirst] = useState(dateOf(view.period.from))
  const [last, setLast] = useState(addDays(dateOf(view.period.to), -1))
  function submit() {
    change({ from: first, to: addDays(last, 1), period: undefined, interval: undefined })
    onClose()
  }
  return (
    <FormDialog
      isFirm={false}
      onClose={onClose}
      title={t.analytics.customTitle}
      onSubmit={submit}
      verb={t.analytics.apply}
    >
      <div className="two">
        <Field label={t.analytics.from}>
          {(props) => (
            <Input
              {...props}
              type="date"
              required
              min="2000-01-01"
              value={first}
              onChange={(event) => setFirst(event.target.value)}
            />
          )}
        </Field>
        <Field label={t.analytics.to}>
          {(props) => (
            <Input
              {...props}
              type="date"
              required
              // The browser says so, as for a date that is missing.
              min={first}
              max="2199-12-31"
              value={last}
              onChange={(event) => setLast(event.target.value)}
            />
          )}
        </Field>
      </div>
    </FormDialog>
  )
}

/** Whose clicks are shown: of a domain, of links with tags, of links. */
function ScopeChips({ scope }: { scope: ClickScope }) {
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
  const change = useAddressChange()
  const { data: domains = [] } = useQuery(domainsQuery)
  const host = domains.find(({ id }) => id === domain)?.domain ?? domain
  if (host === undefined && domains.length === 0) return null
  return (
    <FilterChip
      name={t.analytics.domain}
      values={host === undefined ? [] : [host]}
      onRemove={() => change({ domain: undefined })}
      layer={(trigger) => (
        <Menu trigger={trigger} align="start">
          <MenuChoice
            label={t.analytics.domain}
            value={domain ?? ''}
            choices={domains.map(({ id, domain: name }) => [id, name] as const)}
            onChange={(id) => change({ domain: id })}
          />
        </Menu>
      )}
    />
  )
}

export function TagChips({ tags }: { tags: readonly string[] }) {
  const t = useText()
  const change = useAddressChange()
  const { data: frequent = [] } = useQuery(frequentTagsQuery)
  const others = frequent.filter((tag) => !tags.includes(tag))
  return (
    <>
      {tags.map((tag) => (
        <FilterChip
          key={tag}
          name={t.analytics.dimension.tag}
          values={[tag || t.analytics.untagged]}
          onRemove={() => change({ tag: toggled(tags, tag) })}
        />
      ))}
      {others.length > 0 && (
        <FilterChip
          name={t.analytics.dimension.tag}
          values={[]}
          onRemove={() => {}}
          layer={(trigger) => (
            <Menu trigger={trigger} align="start">
              <MenuChoice
                label={t.analytics.dimension.tag}
                value=""
                choices={others.map((tag) => [tag, tag] as const)}
                onChange={(tag) => change({ tag: [...tags, tag] })}
              />
            </Menu>
          )}
        />
      )}
    </>
  )
}

/** Compared links have their names beside their lines; a single one has a chip. */
export function LinkChips({ links }: { links: readonly string[] }) {
  const t = useText()
  const change = useAddressChange()
  const names = useLinkNames(links)
  if (links.length !== 1) return null
  return (
    <FilterChip
      name={t.analytics.link}
      values={[names[0] ?? '']}
      onRemove={() => change({ link: undefined })}
    />
  )
}

function CompareButton({ links }: { links: readonly string[] }) {
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

type LinkPickerProps = {
  readonly chosen: readonly string[]
  readonly onClose: () => void
}

/** Chooses the links that are compared: those that are chosen first, then what a search finds. */
function LinkPicker({ chosen, onClose }: LinkPickerProps) {
  const t = useText()
  const change = useAddressChange()
  const [search, setSearch] = useState('')
  const [ids, setIds] = useState(chosen)
  const { data: found = [] } = useQuery(linkSearchQuery(search))
  const picked = useQueries({ queries: ids.map((id) => linkQuery(id)) }).flatMap(
    ({ data }) => data ?? [],
  )
  const links = [...picked, ...found.filter(({ id }) => !ids.includes(id))]
  function submit() {
    change({ link: ids.length === 0 ? undefined : ids })
    onClose()
  }
  return (
    <FormDialog
      isFirm={false}
      onClose={onClose}
      title={t.analytics.compareLinks}
      description={t.analytics.compareHint}
      onSubmit={submit}
      verb={t.analytics.show}
    >
      <Field label={t.links.search}>
        {(props) => (
          <SearchField
            {...props}
            placeholder={t.analytics.findLink}
            value={search}
            onChange={(typed = '') => setSearch(typed)}
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
    </FormDialog>
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
