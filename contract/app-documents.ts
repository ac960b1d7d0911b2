import { z } from 'zod'
import { asMessage } from './faults.ts'

/** Apple reads at most 128 KiB of an association file; Google states no limit. */
const APP_DOCUMENT_BYTES_MAX = 128 * 1024
const TEXT_LENGTH_MAX = 1_000

const text = z.string().max(TEXT_LENGTH_MAX)

/** The prefix of a team, and the bundle ID of an app. */
const appId = z
  .string()
  .regex(/^[A-Z0-9]{10}\.[A-Za-z0-9.-]{1,255}$/, asMessage({ code: 'invalid_app_id' }))
const appIds = z.array(appId).min(1)

const patternOptions = {
  caseSensitive: z.boolean().optional(),
  percentEncoded: z.boolean().optional(),
}

const component = z.strictObject({
  '/': text.optional().describe('A pattern of paths.'),
  '?': z.union([text, z.record(z.string().max(TEXT_LENGTH_MAX), text)]).optional(),
  '#': text.optional().describe('A pattern of fragments.'),
  exclude: z.boolean().optional(),
  comment: text.optional(),
  ...patternOptions,
})

const detail = z
  .strictObject({
    appID: appId.optional(),
    appIDs: appIds.optional(),
    components: z.array(component).optional(),
    paths: z.array(text).optional().describe('Patterns of paths before iOS 13.'),
    defaults: z.strictObject(patternOptions).optional(),
  })
  .refine(
    ({ appID, appIDs }) => appID !== undefined || appIDs !== undefined,
    asMessage({ code: 'at_least_one_of', allowed: ['appIDs', 'appID'] }),
  )

const apps = z.strictObject({ apps: z.array(appId) })

export const APPLE_EXAMPLE = {
  applinks: {
    details: [{ appIDs: ['ABCDE12345.com.example.app'], components: [{ '/': '/buy/*' }] }],
  },
}

/** As of https://developer.apple.com/documentation/bundleresources/applinks. */
export const appleAppSiteAssociation = z
  .strictObject({
    applinks: z
      .strictObject({
        apps: z.array(appId).max(0).optional().describe('Empty; for systems before iOS 13.'),
        details: z.array(detail),
        defaults: z.strictObject(patternOptions).optional(),
        substitutionVariables: z.record(text, z.array(text)).optional(),
      })
      .optional(),
    webcredentials: apps.optional(),
    appclips: apps.optional(),
    activitycontinuation: apps.optional(),
  })
  .refine(
    (document) => Object.values(document).some((service) => service !== undefined),
    asMessage({
      code: 'at_least_one_of',
      allowed: ['applinks', 'webcredentials', 'appclips', 'activitycontinuation'],
    }),
  )
  .refine(isSmall, asMessage({ code: 'document_too_large', max: APP_DOCUMENT_BYTES_MAX }))
  .meta({
    id: 'AppleAppSiteAssociation',
    description: 'Which apps of Apple’s systems open links of the domain.',
    examples: [APPLE_EXAMPLE],
  })

const PACKAGE = /^[A-Za-z]\w*(?:\.[A-Za-z]\w*)+$/
const FINGERPRINT = /^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/
const RELATION = /^[a-z0-9_.-]{1,100}\/[a-z0-9_.-]{1,100}$/

const androidApp = z.strictObject({
  namespace: z.literal('android_app'),
  package_name: z
    .string()
    .max(255)
    .regex(PACKAGE, asMessage({ code: 'invalid_package_name' })),
  sha256_cert_fingerprints: z
    .array(z.string().regex(FINGERPRINT, asMessage({ code: 'invalid_fingerprint' })))
    .min(1)
    .describe('Of the certificates that sign the app: 32 pairs of upper-case hexadecimal digits.'),
})

const website = z.strictObject({
  namespace: z.literal('web'),
  site: z
    .string()
    .max(TEXT_LENGTH_MAX)
    .regex(/^https?:\/\/[a-z0-9.-]+(?::\d{1,5})?\/?$/i, asMessage({ code: 'invalid_url' })),
})

const statement = z.strictObject({
  relation: z.array(z.string().regex(RELATION, asMessage({ code: 'invalid_relation' }))).min(1),
  target: z.discriminatedUnion('namespace', [androidApp, website]),
  relation_extensions: z.record(text, z.record(text, z.unknown())).optional(),
})

export const ASSET_LINKS_EXAMPLE = [
  {
    relation: ['delegate_permission/common.handle_all_urls'],
    target: {
      namespace: 'android_app',
      package_name: 'com.example.app',
      sha256_cert_fingerprints: [Array.from({ length: 32 }, () => 'A1').join(':')],
    },
  },
]

/** As of https://developers.google.com/digital-asset-links/v1/statements. */
export const assetLinks = z
  .array(statement)
  .min(1)
  .refine(isSmall, asMessage({ code: 'document_too_large', max: APP_DOCUMENT_BYTES_MAX }))
  .meta({
    id: 'AssetLinks',
    description: 'Which Android apps open links of the domain.',
    examples: [ASSET_LINKS_EXAMPLE],
  })

function isSmall(document: unknown): boolean {
  return new TextEncoder().encode(JSON.stringify(document)).length <= APP_DOCUMENT_BYTES_MAX
}
