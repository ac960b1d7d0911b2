import type { SettingName, SettingValues } from './settings.ts'
import type { GroupRole } from './sign-in-schemas.ts'

/** A provider of single sign-on. */
export type OidcConfig = {
  readonly issuer: string
  readonly clientId: string
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined
  /** How it is called on the sign-in page. */
  readonly name: string
  /** Separated by spaces. */
  readonly scopes: string
  readonly groupsClaim: string
  readonly roles: readonly GroupRole[]
  /** The address whose sign-in creates the first person; undefined for the set-up link alone. */
  readonly ownerEmail: string | undefined
}

export type MailConfig = { readonly smtpUrl: string; readonly from: string }

/** @returns undefined without single sign-on */
export function oidcConfigOf(values: SettingValues): OidcConfig | undefined {
  const { TERSE_OIDC_ISSUER: issuer, TERSE_OIDC_CLIENT_ID: clientId } = values
  if (issuer === undefined || clientId === undefined) return undefined
  return Object.freeze({
    issuer,
    clientId,
    clientSecret: values.TERSE_OIDC_CLIENT_SECRET,
    name: values.TERSE_OIDC_NAME,
    scopes: values.TERSE_OIDC_SCOPES,
    groupsClaim: values.TERSE_OIDC_GROUPS_CLAIM,
    roles: Object.freeze(values.TERSE_OIDC_ROLES),
    ownerEmail: values.TERSE_OWNER_EMAIL,
  })
}

/** @returns undefined without mail */
export function mailConfigOf(values: SettingValues): MailConfig | undefined {
  const { TERSE_SMTP_URL: smtpUrl, TERSE_MAIL_FROM: from } = values
  return smtpUrl === undefined || from === undefined ? undefined : Object.freeze({ smtpUrl, from })
}

/**
 * Returns what is missing among settings that belong together.
 *
 * @param values of the settings that can be used
 * @param isGiven whether a setting is there at all; a fault of its own is reported elsewhere
 */
export function faultsOfSignIn(
  values: Partial<SettingValues>,
  isGiven: (name: SettingName) => boolean,
): readonly string[] {
  const needs = (name: SettingName, other: SettingName) =>
    isGiven(name) && values[name] !== undefined && !isGiven(other)
  return [
    ...TOGETHER.filter(([name, other]) => needs(name, other) || needs(other, name)).map(
      ([name, other]) => `${name} and ${other} are set together, or neither is`,
    ),
    ...WITH_OIDC.filter((name) => needs(name, 'TERSE_OIDC_ISSUER')).map(
      (name) => `${name} needs TERSE_OIDC_ISSUER`,
    ),
  ]
}

const TOGETHER = [
  ['TERSE_OIDC_ISSUER', 'TERSE_OIDC_CLIENT_ID'],
  ['TERSE_SMTP_URL', 'TERSE_MAIL_FROM'],
] as const

const WITH_OIDC = ['TERSE_OIDC_CLIENT_SECRET', 'TERSE_OIDC_ROLES', 'TERSE_OWNER_EMAIL'] as const
