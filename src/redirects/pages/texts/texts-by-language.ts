import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { it } from './it.ts'
import { ja } from './ja.ts'
import { nl } from './nl.ts'
import type { PageTexts } from './page-texts.ts'
import { pl } from './pl.ts'
import { pt } from './pt.ts'
import { zh } from './zh.ts'

/** By primary language subtag: one catalogue for all regions and scripts of a language. */
export const TEXTS: ReadonlyMap<string, PageTexts> = new Map(
  Object.entries({ en, de, fr, es, it, pt, nl, pl, ja, zh }),
)

/** For visitors whose languages have no catalogue. */
export const DEFAULT_TEXTS = en
