import type { z } from 'zod'
import { ACME_SETTINGS } from './settings/acme.ts'
import { BACKUP_SETTINGS } from './settings/backups.ts'
import { CLICK_SETTINGS, DOMAIN_SETTINGS, LINK_SETTINGS, QUOTA_SETTINGS } from './settings/links.ts'
import {
  CONNECTION_SETTINGS,
  LISTENING_SETTINGS,
  NODE_SETTINGS,
  STORAGE_SETTINGS,
} from './settings/service.ts'
import { SIGN_IN_SETTINGS } from './settings/sign-in.ts'

/** Every variable that the service reads. The table in docs/settings.md is generated from it, in this order. */
export const SETTINGS = {
  ...LISTENING_SETTINGS,
  ...STORAGE_SETTINGS,
  ...BACKUP_SETTINGS,
  ...NODE_SETTINGS,
  ...SIGN_IN_SETTINGS,
  ...QUOTA_SETTINGS,
  ...CONNECTION_SETTINGS,
  ...DOMAIN_SETTINGS,
  ...ACME_SETTINGS,
  ...LINK_SETTINGS,
  ...CLICK_SETTINGS,
} as const

/** Returns the variable that names a file holding a secret, in place of the secret's own variable. */
export function fileNameOf(secret: string): string {
  return `${secret}_FILE`
}

/** Every variable that may be set, by its name. */
export const VARIABLES: ReadonlyMap<string, Variable> = new Map(
  Object.entries(SETTINGS).flatMap(([name, definition]): [string, Variable][] => {
    const isPath = 'path' in definition
    if (!('secret' in definition)) return [[name, { isPath, isSecret: false, names: [name] }]]
    const names = [name, fileNameOf(name)] as const
    return [
      [name, { isPath, isSecret: true, names }],
      [fileNameOf(name), { isPath: true, isSecret: false, names }],
    ]
  }),
)

type Variable = {
  /** Whether its value is a path. */
  readonly isPath: boolean
  readonly isSecret: boolean
  /** All variables for the same setting, of which one may be set. */
  readonly names: readonly string[]
}

export type SettingName = keyof typeof SETTINGS
export type SettingValues = { [N in SettingName]: z.output<(typeof SETTINGS)[N]['schema']> }
