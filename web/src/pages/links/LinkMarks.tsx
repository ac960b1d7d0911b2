import { Link } from '@tanstack/react-router'
import type { DetailedLink } from '../../api/links.ts'
import { Icon, type IconNode } from '../../icons/Icon.tsx'
import {
  ArchiveIcon,
  ExpiredIcon,
  ExpiryIcon,
  ImageIcon,
  LimitIcon,
  LockIcon,
  PathIcon,
  PhoneIcon,
  RuleSetIcon,
  RulesIcon,
  SetIcon,
  SplitIcon,
  StartIcon,
  WarningIcon,
} from '../../icons/index.ts'
import type { Catalogue } from '../../text/en.ts'
import type { Formats } from '../../text/formats.ts'
import { useFormats, useText } from '../../text/use-text.ts'
import { showTip, tip } from '../../widgets/Tips.tsx'

/** How many marks of a link with more are shown: the key needs the room. */
const MARKS_SHOWN = 3

/** Something that a link does besides redirecting. */
type Mark = {
  readonly icon: IconNode
  /** In words, with its numbers. */
  readonly text: string
  /** Whether it keeps the link from working. */
  readonly isWarning?: boolean
}

/** What a link does besides redirecting, the most important first. */
export function marksOf(
  link: DetailedLink,
  { isUnproved, now }: { readonly isUnproved: boolean; readonly now: Date },
  t: Catalogue,
  formats: Formats,
): readonly Mark[] {
  const { options, rule_count: rules, split_count: splits } = link
  const { max_clicks: maxClicks, active_from: start, path, query } = options
  const words = t.links.marks
  const minute = (instant: string) => formats.minute(new Date(instant))
  const isExpired = link.expires_at !== null && new Date(link.expires_at) <= now
  const marks: readonly (Mark | false)[] = [
    isUnproved && { icon: WarningIcon, text: t.link.notWorking(link.domain), isWarning: true },
    options.archived && { icon: ArchiveIcon, text: words.archived },
    rules > splits && { icon: RulesIcon, text: words.rules(rules - splits) },
    options.rule_set !== null && { icon: RuleSetIcon, text: words.ruleSet },
    splits > 0 && { icon: SplitIcon, text: words.splits(splits) },
    maxClicks !== null && { icon: LimitIcon, text: words.used(link.clicks ?? 0, maxClicks) },
    start !== null &&
      new Date(start) > now && { icon: StartIcon, text: words.starts(minute(start)) },
    isExpired && { icon: ExpiredIcon, text: t.links.expired },
    link.expires_at !== null &&
      !isExpired && { icon: ExpiryIcon, text: words.expires(minute(link.expires_at)) },
    path !== 'none' && { icon: PathIcon, text: words.path[path] },
    query !== 'merge' && { icon: PathIcon, text: words.query[query] },
    (options.title ?? options.description ?? options.image) !== null && {
      icon: ImageIcon,
      text: words.preview,
    },
    (link.ios !== null || link.android !== null) && { icon: PhoneIcon, text: t.links.targets },
    link.password !== null && { icon: LockIcon, text: t.links.protected },
  ]
  return marks.filter((mark) => mark !== false)
}

const TIP_MS = 8_000

/** The first marks, and how many more there are. Hover and focus show all of them in words, a press does on phones. */
export function LinkMarks({ marks }: { marks: readonly Mark[] }) {
  const formats = useFormats()
  if (marks.length === 0) return null
  const words = marks.map(({ text }) => text)
  const rest = marks.length - MARKS_SHOWN
  return (
    <button
      type="button"
      className="flags"
      tabIndex={-1}
      aria-label={formats.list(words)}
      {...tip(words.join('\n'))}
      onClick={({ currentTarget }) => showTip(currentTarget, TIP_MS)}
    >
      {marks.slice(0, MARKS_SHOWN).map(({ icon, text, isWarning = false }) => (
        <span key={text} className={isWarning ? 'warn' : undefined}>
          <Icon of={icon} />
        </span>
      ))}
      {rest > 0 && <span className="rest">+{formats.number(rest)}</span>}
    </button>
  )
}

/** Says which set of links as code manages a link, and leads to the links of the set. */
export function SetMark({ name }: { readonly name: string | null }) {
  const t = useText()
  if (name === null) return null
  const text = t.managed.by(name)
  return (
    <Link
      className="flags"
      from="/links"
      to="/links"
      search={(before) => ({ ...before, managed_by: name, page: undefined })}
      tabIndex={-1}
      aria-label={text}
      {...tip(text)}
    >
      <Icon of={SetIcon} />
    </Link>
  )
}
