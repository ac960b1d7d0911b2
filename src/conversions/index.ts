export { ConversionImports } from './conversion-imports.ts'
export { presentConversion } from './present.ts'
export type { ConversionSettingsService } from './settings.ts'
export {
  areConversionSettingsNew,
  type ConversionSettings,
  type ConversionSettingsStore,
} from './store/conversion-settings-store.ts'
export type {
  Conversion,
  ConversionMark,
  ConversionStore,
  LinkedConversion,
} from './store/conversion-store.ts'
