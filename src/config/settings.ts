import type { z } from 'zod'
import { ACME_SETTINGS } from './settings/acme.ts'
import { CLICK_SETTINGS } from './settings/clicks.ts'
import { DOMAIN_SETTINGS } from './settings/domains.ts'
import { LINK_SETTINGS } from './settings/links.ts'
import { LISTENING_SETTINGS } from './settings/listening.ts'
import { NODE_SETTINGS } from './settings/node.ts'
import { STORAGE_SETTINGS } from './settings/storage.ts'

/** Every variable that the service reads. The table in the README is made from this, in this order. */
export const SETTINGS = {
  ...LISTENING_SETTINGS,
  ...STORAGE_SETTINGS,
  ...NODE_SETTINGS,
  ...DOMAIN_SETTINGS,
  ...ACME_SETTINGS,
  ...LINK_SETTINGS,
  ...CLICK_SETTINGS,
} as const

export type SettingName = keyof typeof SETTINGS
export type SettingValues = { [N in SettingName]: z.output<(typeof SETTINGS)[N]['schema']> }
