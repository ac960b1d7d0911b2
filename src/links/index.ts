/** The exports of links for other modules. The redirects load it, so it loads no store and no route. */

export { isAsExpected, type TryExamples } from './examples.ts'
export {
  foldKey,
  generateKey,
  isPlaceholder,
  isServicePath,
  keyOfPath,
  PATH_LINKS_MAX,
  parseKey,
} from './key.ts'
export { areLabelsNew, type Labels } from './labels.ts'
export {
  boundToLink,
  hasQrMark,
  type Link,
  linkVersion,
  optionsOf,
  presentLink,
  QR_MARK,
  shortLink,
  type UncountedLink,
  withoutQrMark,
} from './link.ts'
export type { BatchUpdate, LinkBatches, LinkBatchStores, LookedBatch } from './link-batches.ts'
export {
  LINK_DIMENSIONS,
  type LinkDimension,
  type LinkValues,
  NO_LINK_VALUES,
} from './link-dimensions.ts'
export { type LinkInput, parseLinkInput } from './link-input.ts'
export type { PreparedCreate, PreparedUpdate } from './link-writer.ts'
export type { DraftInput } from './links.ts'
export { IMAGE_FOLDER, imageNameOf } from './previews/image-name.ts'
export { OEMBED_PATH, OEMBED_TYPES, oembedAddress, type ShownLink } from './previews/oembed.ts'
export type { RuleSet, RuleSetMark, RuleSetStore } from './rule-sets/rule-set-store.ts'
export type { RuleSets } from './rule-sets/rule-sets.ts'
export type { LabelSettings, LabelStore } from './store/label-store.ts'
export type { KeyHolder } from './store/link-batch-store.ts'
export type {
  HostDocument,
  LinkDirectory,
  LinkHost,
  VisitedLink,
  VisitSettings,
} from './store/link-directory.ts'
export type { LinkStore } from './store/link-store.ts'
export type { UtmTemplate, UtmTemplateStore } from './utm-templates/utm-template-store.ts'
export type { UtmTemplates } from './utm-templates/utm-templates.ts'
