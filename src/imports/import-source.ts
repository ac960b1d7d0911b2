import type { DomainSettingsInput } from '@terse/contract/domain-settings'
import type { ExampleInput } from '@terse/contract/explain'
import {
  LINK_TEXT_FIELDS,
  type LinkOptions,
  type LinkTexts,
  type UtmField,
} from '@terse/contract/link-fields'
import type { RuleInput } from '@terse/contract/rules'
import type { Conversion, ConversionSettings } from '../conversions/index.ts'
import type { LinkInput, UncountedLink } from '../links/index.ts'
import type { ImportedLink } from './import.ts'

/** Another service's data, as one stream of records in constant memory. */
export type ImportSource = {
  /** Such as `kutt-api`: stored with an import, and compared when it is resumed. */
  readonly name: string
  /** The number of links, where the source can say so without reading all; for progress only. */
  countLinks(signal: AbortSignal): Promise<number | undefined>
  /**
   * Reads all records, or those after the one whose `resume` is given.
   *
   * @throws {ImportSourceFault} when the source cannot be read, or gives what it cannot have meant
   */
  read(options: {
    readonly resume: string | undefined
    readonly signal: AbortSignal
  }): AsyncGenerator<ImportRecord, void, void>
  /** Releases files and connections. */
  close(): Promise<void>
}

/** Why a source cannot be read, as a sentence for the person who imports. Contains no secret. */
export class ImportSourceFault extends Error {
  override readonly name = 'ImportSourceFault'
  /** Whether the same request may succeed later, such as after a time-out. */
  readonly isTransient: boolean

  constructor(
    message: string,
    options: { readonly isTransient: boolean; readonly cause?: unknown },
  ) {
    super(message, { cause: options.cause })
    this.isTransient = options.isTransient
  }
}

/** The texts of a link that a record has as the API has them. The others have forms of their own. */
export const RECORD_TEXTS = LINK_TEXT_FIELDS.filter(
  (field) => field !== 'password' && field !== 'expires_at',
)

/**
 * What sources yield: everything that another service knew of a link, in Terse's terms. A source yields a link
 * before its clicks. It changes no value to make it valid: the importer checks each, and reports what it refused.
 */
export type ImportRecord =
  | LinkRecord
  | DomainRecord
  | UtmTemplateRecord
  | RuleSetRecord
  | DomainSettingsRecord
  | LabelsRecord
  | ConversionSettingsRecord
  | ClickRecord
  | ClickCountRecord
  | ConversionRecord
  | RefusedRecord
  | ImportedLinkRecord

/** In any record. */
type FromSource = {
  /**
   * From where the source is read again after this record. Opaque to the importer, which stores it in the
   * transaction that writes the record.
   */
  readonly resume: string
}

export type LinkRecord = FromSource &
  Pick<LinkTexts, (typeof RECORD_TEXTS)[number]> & {
    readonly kind: 'link'
    /** Identifies the link within the source: the same in every run, at most 500 characters. */
    readonly ref: string
    /** Where people find it in the source, such as `line 17` or `page 3, item 4`. */
    readonly place: string
    /** Its host as the source names it; null for the source's own or default domain. */
    readonly domain: string | null
    /** Decoded, without a leading slash; '' for a link at the root of the domain. */
    readonly key: string
    readonly url: string
    readonly external_id: number | null
    readonly tags: readonly string[]
    readonly rules: readonly RuleInput[]
    readonly examples: readonly ExampleInput[]
    readonly options: Pick<LinkInput, keyof LinkOptions>
    /** The name of the rule set that it uses, beside those of `options`. Only of Terse. */
    readonly rule_set_name?: string | null
    /**
     * Microseconds since the epoch, or an ISO 8601 instant with a zone for those that a number cannot hold, such as
     * `9999-12-31T23:59:59.999999Z`; null for never.
     */
    readonly expires_at: number | string | null
    readonly protection: LinkProtection
    /**
     * Why the link does not redirect at the source, as a sentence for the report: it was disabled, archived, banned, or
     * reached its limit of visits. It is imported as expired. Null for a link that redirects.
     */
    readonly closed: string | null
    /** Microseconds since the epoch; null where the source has no such date. */
    readonly created_at: number | null
    /**
     * The source's total of clicks. What is in no click and no count of its becomes the opening balance. Null where the
     * source has no total.
     */
    readonly clicks: number | null
    /**
     * `people` when `clicks` counts no bots; left out when it counts them too. Only exports of Terse
     * have it.
     */
    readonly clicks_of?: 'people'
    /** Microseconds since the epoch. */
    readonly last_click: number | null
    /** What has no field in Terse, as JSON: kept beside the link. */
    readonly rest: Readonly<Record<string, unknown>>
    /** Sentences for the report: what the source could not say, or what was dropped and why. */
    readonly notes: readonly string[]
  }

export type LinkProtection =
  | { readonly kind: 'none' }
  /** The password in clear. */
  | { readonly kind: 'password'; readonly password: string }
  /** There is a password, and the source does not give it out: the link gets a random one. */
  | { readonly kind: 'unknown password' }

/** A domain, with or without links. Yielded before its links. It has to be proved again. */
export type DomainRecord = FromSource & {
  readonly kind: 'domain'
  readonly place: string
  readonly domain: string
  readonly not_found_url: string | null
  readonly expired_url: string | null
  /** Whether new links start on it, where the workspace has no default domain. Only of Terse. */
  readonly is_default?: boolean
  /** Sentences for the report, as of a link. */
  readonly notes: readonly string[]
}

/** UTM values to choose for links. One whose name is taken stays as it is. */
export type UtmTemplateRecord = FromSource &
  Pick<LinkTexts, UtmField> & {
    readonly kind: 'utm template'
    readonly place: string
    readonly name: string
    /** The name of the set of links as code that manages it. */
    readonly managed_by?: string | null | undefined
  }

/**
 * A rule set. Yielded before the links and the settings that use it by its name. One whose name is taken stays as it is,
 * and they use that one.
 */
export type RuleSetRecord = FromSource & {
  readonly kind: 'rule set'
  readonly place: string
  readonly name: string
  readonly rules: readonly RuleInput[]
  /** The name of the set of links as code that manages it. */
  readonly managed_by?: string | null | undefined
}

/** What a domain does besides its links. Yielded after the domain. A domain that has settings keeps them. */
export type DomainSettingsRecord = FromSource & {
  readonly kind: 'domain settings'
  readonly place: string
  readonly domain: string
  readonly settings: Omit<DomainSettingsInput, 'domain' | 'rule_set'>
  readonly rule_set_name: string | null
}

/** How visits get labels. A workspace whose settings differ from those of a new one keeps them. */
export type LabelsRecord = FromSource & {
  readonly kind: 'labels'
  readonly place: string
  readonly parameter: string | null
  readonly labels: readonly string[]
}

/** How conversions are counted. A workspace whose settings differ from those of a new one keeps them. Only of Terse. */
export type ConversionSettingsRecord = FromSource & {
  readonly kind: 'conversion settings'
  readonly place: string
  readonly settings: ConversionSettings
}

/** A conversion of a link that was yielded before. Only of Terse. */
export type ConversionRecord = FromSource & {
  readonly kind: 'conversion'
  readonly place: string
  /** The link's. */
  readonly ref: string
  readonly conversion: Omit<
    Conversion,
    'workspace_id' | 'link_seq' | 'idempotency_key' | 'fingerprint'
  >
}

/** A single visit. */
export type ClickRecord = FromSource & {
  readonly kind: 'click'
  /** The link's. A click of a ref that was not yielded before is reported, and not counted. */
  readonly ref: string
  /** Microseconds since the epoch. */
  readonly at: number
  /** The visitor's IP address, never stored; null if unknown. */
  readonly address: string | null
  /** '' for a request that had none; null if unknown. */
  readonly user_agent: string | null
  /** The referring URL or its host; '' for none or unknown. */
  readonly referrer: string
  /** ISO 3166-1 alpha-2 in upper case; '' if unknown. */
  readonly country: string
  /** The source's own judgement that this was no person. */
  readonly is_bot: boolean
  /** What Terse has stored of a click of its own, in place of address and user agent. */
  readonly stored?: StoredClick
}

/** Names and values are those of `Click` (src/clicks/click.ts). */
type StoredClick = {
  readonly flags: number
  readonly count: number
  readonly visitor: number
  readonly device: string
  readonly os: string
  readonly browser: string
  readonly language: string
  readonly source: string
  readonly rule: string
  readonly variant: string
  readonly label: string
  readonly region: string
  readonly city: string
}

/** Visits of a link that the source has only counted. */
export type ClickCountRecord = FromSource & {
  readonly kind: 'count'
  readonly ref: string
  /**
   * In the hour or day that was counted, in microseconds since the epoch: the last visit, or the beginning where that
   * is unknown.
   */
  readonly at: number
  readonly interval: 'hour' | 'day'
  /** Clicks by people. One of the two is at least 1. */
  readonly count: number
  /** All other clicks; none when left out. Only of Terse. */
  readonly bots?: number
}

/** A link that was imported before, with what is kept beside it. Only of a revival. */
export type ImportedLinkRecord = FromSource & {
  readonly kind: 'imported link'
  readonly place: string
  readonly imported: ImportedLink & { readonly rest: string }
  /** As it was when it was read. */
  readonly link: UncountedLink
}

/** A row from which no other record can be made, such as a line of a CSV with too few columns. */
export type RefusedRecord = FromSource & {
  readonly kind: 'refused'
  readonly place: string
  readonly reason: string
  /** The row as it was read, for the report; cut to 2,000 characters. */
  readonly row: string
}
