/**
 * The faults of fields by their codes, which are stable. Each has a text for people that follows the name of the
 * field, with the parameters of the fault in braces; or several by its `reason`. The table in docs/faults.md is
 * generated from it.
 */
export const FAULTS = {
  // Faults of any field.
  required: 'is required',
  unknown_field: 'is not a known field',
  unexpected: 'does not belong to this request',
  invalid: 'is invalid',
  wrong_type: {
    array: 'must be an array',
    boolean: 'must be true or false',
    integer: 'must be an integer',
    number: 'must be a number',
    object: 'must be an object',
    string: 'must be a string',
  },
  not_one_of: 'must be one of {allowed}',
  not_list_of: 'must be a list of {allowed}, separated by commas',
  incompatible: {
    one_of: 'must be one of {allowed} together with {other}',
    never: 'must not be sent together with {other}',
    only: 'works only with {other}',
    contrary: 'must not be {other} together',
  },
  out_of_range: 'must be a whole number from {min} to {max}',
  empty: 'must not be empty',
  not_alone: 'has {scope}, which must be the only scope of a token',
  too_short: 'must have at least {min} characters',
  too_long: 'must have at most {max} characters',
  too_few: 'must have {min} or more values',
  too_many: 'must have at most {max} values',
  control_characters: 'must not contain control characters',
  malformed_text: 'must be well-formed Unicode',
  invalid_uuid: 'must be a UUID',
  invalid_email: 'must be an e-mail address',
  invalid_color: 'must be a colour of the form #RRGGBB',
  limit_reached: {
    imports: 'cannot be read: {max} imports have not ended; cancel one',
    import_files: 'is one too many: {max} imports with files have not ended; cancel one',
    invitations: 'cannot be invited: {max} invitations are open',
    passkeys: 'is one too many; delete one of your {max} passkeys first',
    utm_templates: 'would be one of more than {max} templates; delete some',
    rule_sets: 'would be one of more than {max} rule sets; delete some',
    webhooks: 'would be one of more than {max} webhooks; delete some',
    assistants: 'would be one of more than {max} that you let work here; withdraw some',
  },
  quota_reached: {
    links:
      'has reached its quota of {max} links; delete links, or ask the operator of this service for a higher quota',
    storage_bytes:
      'has reached its quota of {max} bytes of links; delete or shorten links, or ask the operator of this service for a higher quota',
    domains:
      'has reached its quota of {max} domains; delete domains, or ask the operator of this service for a higher quota',
    conversions:
      'has reached its quota of {max} conversions; delete links, or ask the operator of this service for a higher quota',
    pending_domains:
      'has reached its quota of {max} pending domains; prove or delete pending domains, or ask the operator of this service for a higher quota',
  },
  taken: {
    link: 'is taken on this domain',
    domain: 'has been added before',
    domain_or_links: 'has been added before, or still has links of its own in this workspace',
    member: 'is that of a member',
    email: 'is for an address that has an account already',
    passkey: 'is a passkey that was added before',
    utm_template: 'is the name of another template',
    rule_set: 'is the name of another rule set',
    workspace: '"{name}" is taken',
  },
  reserved: {
    service: 'is reserved for the service itself on this domain',
    operators: 'is reserved for operators of the service on this domain',
    domain: 'is reserved: only the operator of this service can add it',
    shared: 'is the host of this service, shared by all',
  },

  // Faults of instants and periods.
  invalid_instant: 'must be an ISO 8601 instant with a zone, such as 2026-12-31T23:59:59Z',
  invalid_date: 'must be a date such as 2026-11-01, or an instant such as 2026-11-01T09:30:00Z',
  invalid_time_zone: 'must be the name of an IANA time zone, such as Europe/Berlin',
  invalid_period: {
    future: 'must not be later than now',
    reversed: 'must be before to',
    too_long: 'must be at most {max} days before to',
    year: 'must be in the years {min} to {max}',
  },
  past: 'must be in the future',
  too_late: {
    year: 'must be before the year 2255; leave it out for never',
    token: 'must be no later than {max}, when the token that creates it expires',
  },

  // Faults of links and their lists.
  invalid_url: 'must be an absolute URL such as https://example.com/page',
  wrong_scheme: 'must begin with {allowed}',
  missing_address: 'must have an address after {scheme}:',
  url_with_credentials: 'must not hold a user name or password',
  loop: {
    itself: 'must not lead back to this link',
    links: 'must not lead to a link that leads back to this one',
    domain: 'must not lead back to this domain',
  },
  invalid_key: {
    characters: 'may hold only letters, digits, emoji, "-", "_", ".", "~" and "/"',
    slashes: 'must not begin or end with "/" or hold "//"',
    dots: 'must not hold a "." or ".." segment',
    placeholders: 'must not hold one placeholder twice',
  },
  invalid_parameter: {
    characters: 'must be a letter, then at most 31 letters, digits, "_" and "-"',
    taken: 'must not be qr or a UTM parameter',
  },
  unusable_token: {
    unknown: 'is no token of this workspace',
    old: 'is of a visit more than {max} days ago',
    deleted: 'is of a link that was deleted',
  },
  invalid_currency: 'must be a currency code of three letters, such as EUR',
  impossible_instant: {
    before: 'must not be before the visit, at {min}',
    future: 'must not be later than now',
  },
  not_restorable: {
    creation: 'is the creation of the link: delete the link instead',
    unlogged: 'cannot be set back: its earlier value is in no log; name the other fields in fields',
    many: 'is followed by more than {max} changes: choose a later one',
  },
  too_many_variants: 'has {max} variants on this domain that differ only by letter case',
  too_many_paths:
    'would be one of more than {max} links of this domain that use the path behind their key',
  too_many_tags: 'would give the link more than {max} tags',
  sealed_elsewhere: 'is the sealed form of another password; send the text',
  wrong_cursor:
    'is not a cursor of this list; begin with an empty one, and keep the other parameters',
  too_slow: {
    links: 'takes too long among so many links; add a tag, or sort by created_at',
    tags: 'must be narrower: there are too many tags to count',
    events: 'takes too long among so many events; set from and to closer together',
    conversions: 'takes too long among so many conversions; set from and to closer together',
  },
  too_pale: 'is too pale to be scanned on white; choose a darker colour',
  level_too_high: 'is too high for so long a link; choose a lower one',
  size_too_small: 'must be at least {min} for this link, level and margin',
  invalid_logo: {
    encoding: 'must be a PNG in base64, with {prefix} in front',
    bytes: 'must have at most {max} KiB',
    pixels: 'must have at most {max} × {max} pixels',
    damaged: 'is not a valid PNG',
    interlaced: 'must not be an interlaced PNG',
  },

  invalid_image: {
    format: 'must be a PNG, JPEG, WebP or GIF',
    damaged: 'is damaged',
    pixels: 'must have at most 16 megapixels',
  },
  unknown_image: 'is not an image of this workspace; upload it first',
  no_preview: {
    private: 'is inside a private network, which is not read',
    scheme: 'must be a page of the web',
    unreachable: 'cannot be reached',
    slow: 'was not read within {max} seconds',
    status: 'answers with status {status} instead of a page',
    page: 'is not a page in HTML',
    redirects: 'redirects more than {max} times',
    too_long: 'is longer than {max} bytes',
    empty: 'has no title, description or image to take',
  },

  // Faults of rules.
  exactly_one_of: 'must have exactly one of {allowed}',
  at_least_one_of: 'must have at least one of {allowed}',
  unknown_country: 'must be a country code of two letters such as DE, or one of {allowed}',
  invalid_country: 'must be a country code of two letters, such as DE',
  invalid_address: 'must be an address such as 192.0.2.1 or 2001:db8::1',
  no_cities: 'needs a database of cities, which the operator of this service has not set up',
  invalid_language: 'must be a language tag such as de or pt-BR',
  invalid_network: 'must be an address or a network, such as 192.0.2.0/24 or 2001:db8::/32',
  invalid_time_of_day: 'must be a time of day from 00:00 to 24:00, such as 09:30',
  invalid_rule_id: 'must be 1 to 32 lower-case letters, digits, "-" and "_"',
  repeated: {
    rule: 'must not have one id twice',
    example: 'must not have one name twice',
    variant: 'must not have one name twice',
  },
  no_weight: 'must have a variant with a weight above 0',
  unknown_variant: 'must be the name of a variant of this split',
  misplaced_placeholder: 'may have placeholders only behind the host',
  other_link: 'leads to another link of this domain',
  examples_too_large: 'must have at most {max} bytes',
  rules_too_large: 'must have at most {max} bytes',
  invalid_set_name: 'must be 1 to 63 lower-case letters, digits and hyphens, such as flyers',
  deletion_prevented: 'keeps this link from being deleted; set it to false first',
  unknown_rule_set: 'must be the id of a rule set of this workspace',

  // Faults of domains.
  invalid_host: {
    characters: 'must be a host name without scheme, port or path, such as go.example.com',
    form: 'must be a host name such as go.example.com',
    international: 'holds an international label that cannot be read',
    ip_address: 'must be a name, not an address',
    no_dot: 'must be a full host name with a dot, such as go.example.com',
  },
  public_suffix: 'is a public suffix, under which others register names; use a name below it',
  special_use: 'is a name under .{suffix}, which public DNS does not have',
  invalid_app_id:
    'must be the prefix of a team, a dot and a bundle ID, such as ABCDE12345.com.example.app',
  invalid_package_name: 'must be the name of an Android package, such as com.example.app',
  invalid_fingerprint:
    'must be a SHA-256 fingerprint: 32 pairs of upper-case hexadecimal digits with colons between',
  invalid_relation: 'must be a relation such as delegate_permission/common.handle_all_urls',
  document_too_large: 'must have at most {max} bytes',
  unknown_domain: 'must be a domain of this workspace',
  unavailable_domain: 'is not available to this workspace',
  domain_not_added: {
    closed: 'must be added to the workspace first',
    scope: 'must be added to the workspace first, which needs the scope {scope}',
    role: 'must be added to the workspace first, by an {role}',
  },

  // Faults of webhooks.
  invalid_secret: 'must be whsec_ and 24 to 64 bytes in base64',
  private_address: 'is inside a private network; the operator of this service can allow it',
  webhook_disabled: 'is disabled; enable it first',

  // Faults of what an assistant asks for.
  unknown_client: 'is no program that is registered here, and no https address',
  unreadable_client: {
    address: 'leads to a private network',
    unreachable: 'cannot be read',
    invalid: 'does not describe a program as it must',
    secret: 'describes a program that signs in with a secret, which is not supported',
  },
  foreign_callback: 'is no address of this program',

  // Faults of charts.
  too_many_points: {
    intervals: 'would make {points} points; there can be {max} in one answer',
    values: 'would make {points} points for {values} values; there can be {max} in one answer',
  },
  no_single_clicks: {
    old: 'cannot be had for {names}: single clicks are kept for {max} days (request a later from, or only one of these)',
    many: 'cannot be had for {names}: single clicks are limited to {max}, and the requested days have {clicks} (request fewer days, or only one of these)',
    dropped:
      'cannot be had for {names}: single clicks of these days were not all kept: {kept} of {clicks} (request other days, or only one of these)',
    slow: 'cannot be had for {names}: single clicks of these days take longer than {max} s to read (request fewer days, or only one of these)',
  },

  // Faults of imports.
  not_needed: 'is not needed for {source}',
  import_begun: 'was taken: the import has begun',
  import_not_startable: {
    status: 'is {status}: it cannot be started',
    token: 'is failed, and its token was removed: create another',
    options: 'is failed: it goes on as it began, or is cancelled',
    changed: 'has changed: it cannot be started',
  },
  file_too_large: 'is too far: a file has at most {max} bytes',
  wrong_offset: 'must be {expected} here, where the part before ends',

  // Faults of people, their rights and how they sign in.
  web_address: 'must not hold a web address; if it holds none, write a space after dots',
  invalid_workspace_name: 'must be 1 to 63 lower-case letters, digits and hyphens, such as acme',
  mapped_name: 'is named in the settings of single sign-on; an operator of the instance renames it',
  weak_password: {
    short: 'must have at least {min} characters',
    short_alone:
      'must have at least {min} characters, or {min_with_factor} once a second factor is set up',
    personal: 'must not be your name or e-mail address',
    simple: 'is too easy to guess; use more different characters',
    common: 'is one of the passwords that attackers try first',
  },
  wrong: {
    password: 'is wrong',
    clock: 'is wrong; check the clock of the device',
    used: 'is wrong, or was used before',
  },
  invalid_code: {
    setup: 'is wrong, was used before or has expired',
    invitation: 'is not valid: it was used or withdrawn, or has expired',
    reset: 'is not valid: it was used, replaced or has expired',
  },
  already_set_up: 'is not needed: the first person has been set up',
  nothing_to_confirm: 'has no set-up to confirm; begin with POST /api/v1/me/totp',
  second_factor_needed: {
    password:
      'has fewer than {min} characters, which needs a second factor. Set a longer password first, or set up another second factor.',
    codes: 'stand in for a second factor: set up an authenticator app or a passkey first',
  },
  unknown_passkey: 'is not known here, or was asked for too long ago',
  outdated_options: 'does not answer the last options of this browser; request new ones',
  passkeys_need_name:
    'cannot be used: browsers make none for an IP address, and TERSE_BASE_URL has one in place of a name',
  no_mail: 'cannot be used: this instance sends no mail. Ask an admin for a link.',
  last_way_in: 'is your last way to sign in; set a password first',
  own_account: 'is your own; set a new password in your account',
  last_operator: {
    change: 'would leave the instance without an operator; name another one first',
    deletion: 'cannot be deleted: the instance would have no operator; name another one first',
  },
  last_owner: {
    change: 'cannot be taken from the last owner; make another member owner first',
    deletion:
      'cannot be deleted: the workspace {workspace} would have no owner; make another member owner, or delete the workspace, first',
  },
  exceeds_rights: {
    role: 'can allow no more than you may do',
    scopes: 'can allow no more than you may do; leave out {scopes}',
  },
  other_person: 'is for {invited}; you are signed in as {person}',
  already_member: 'leads to a workspace of which you are a member',
  mailed_link_required:
    'does not create an account: open the link in the mail to {email}, or sign in first where you have an account',
  account_required: 'is required of a new person; sign in first where you have an account',
  signed_in: 'is for new people; you are signed in',
  new_password_required:
    'is required, a new one: your address is not proved, so whoever made this account may know the old one',

  // Faults of headers.
  invalid_idempotency_key: 'must be {min} to {max} printable ASCII characters',
  not_honoured: 'is not honoured by this operation; leave it out',
} as const

/**
 * Closer reasons than the `code` of an error as a whole. The texts are sentences.
 */
export const ERROR_DETAILS = {
  wrong_credentials: 'The e-mail address or the password is wrong.',
  unknown_passkey: 'This passkey is not known here, or was asked for too long ago.',
  other_account: 'Sign in as {email} to accept this invitation.',
  session_ended: 'This session has ended. Sign in again.',
  no_token: 'Send a token in the header Authorization: Bearer <token>.',
  malformed_token: 'The Authorization header must be: Bearer <token>.',
  invalid_token: 'This is not a valid token.',
  expired_token: 'This token has expired.',
  role_needed: {
    viewer: 'This needs the role viewer in the workspace.',
    member: 'This needs the role member in the workspace.',
    admin: 'This needs the role admin in the workspace.',
    owner: 'This needs the role owner in the workspace.',
  },
  person_needed: 'No token may do this. Sign in as an {role}.',
  people_only: 'This is for people who are signed in. A token cannot do it.',
  operators_only: 'This is for operators of the instance.',
  assistants_off: 'Assistants may not connect to this workspace. An admin can allow it.',
  reset_by_operator:
    'This person can do more than what is in this workspace, so an operator of the instance has to make the link.',
  rise_ends_access:
    'A higher role would end all access of this person, whose address is not proved: who may make the link for a new password has to give it.',
  rule_set_in_use: {
    links: 'This rule set is used by {count} links, such as {links}. Take it from them first.',
    domains: 'This rule set is the default of {domains}. Take it from these domains first.',
    both: 'This rule set is used by {count} links, such as {links}, and is the default of {domains}. Take it from them first.',
  },
  examples_changed:
    'This changes what examples of the link get: {names}. Send accept_changes=true in the query if it is meant.',
  foreign_page: 'This request must come from a page of {address}.',
  foreign_page_with_session:
    'With a session, changes must come from pages of {address}. A program without a browser sends the header Origin: {origin}.',
} as const

type Texts = Readonly<Record<string, string | Readonly<Record<string, string>>>>

/** The parameters that a text names in braces. */
type Names<T> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never

type Value = string | number | readonly string[]

type Coded<Code, Text> = { readonly code: Code } & { readonly [Name in Names<Text>]: Value }

type CodedBy<Catalogue extends Texts> = {
  [Code in keyof Catalogue]: Catalogue[Code] extends string
    ? Coded<Code, Catalogue[Code]>
    : {
        [Reason in keyof Catalogue[Code]]: Coded<Code, Catalogue[Code][Reason]> & {
          readonly reason: Reason
        }
      }[keyof Catalogue[Code]]
}[keyof Catalogue]

export type FaultCode = keyof typeof FAULTS
/** What is wrong with a field: a code, and what its text needs. Where it is shown, `faultText` words it. */
export type Fault = CodedBy<typeof FAULTS>
export type ErrorDetails = CodedBy<typeof ERROR_DETAILS>

/** The texts of a catalogue in another language. */
export type Translated<Catalogue extends Texts> = {
  readonly [Code in keyof Catalogue]: Catalogue[Code] extends string
    ? string
    : { readonly [Reason in keyof Catalogue[Code]]: string }
}

export function faultText(fault: Fault): string {
  return textIn(FAULTS, fault) ?? fault.code
}

export function detailsText(details: ErrorDetails): string {
  return textIn(ERROR_DETAILS, details) ?? details.code
}

/** Words a fault with the texts of a language; undefined for a code that they do not have. */
export function textIn(
  texts: Texts,
  fault: { readonly code: string; readonly reason?: unknown },
): string | undefined {
  const found = texts[fault.code]
  const text = typeof found === 'object' ? found[String(fault.reason)] : found
  const values = new Map<string, unknown>(Object.entries(fault))
  return text?.replace(/\{(\w+)\}/g, (hole, name) => {
    const value = values.get(name) ?? hole
    return Array.isArray(value) ? value.join(', ') : String(value)
  })
}

/** A fault as the message of a check of zod, which keeps one text and nothing else. `faultOfMessage` reads it. */
export function asMessage(fault: Fault): string {
  return JSON.stringify(fault)
}

/** Returns the fault that `asMessage` was given; undefined for a message of zod itself. */
export function faultOfMessage(message: string): Fault | undefined {
  return message.startsWith('{') ? JSON.parse(message) : undefined
}
