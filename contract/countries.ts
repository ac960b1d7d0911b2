/** Continents by the UN's M49 regions, with the ISO 3166-1 codes of their countries; Kosovo by its code in use. */
const CONTINENTS = {
  africa:
    'AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW IO KE KM LR LS LY MA MG ML MR MU MW MZ NA NE NG RE RW SC SD SH SL SN SO SS ST SZ TD TF TG TN TZ UG YT ZA ZM ZW',
  antarctica: 'AQ',
  asia: 'AE AF AM AZ BD BH BN BT CN CY GE HK ID IL IN IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO MV MY NP OM PH PK PS QA SA SG SY TH TJ TL TM TR TW UZ VN YE',
  europe:
    'AD AL AT AX BA BE BG BY CH CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK',
  'north-america':
    'AG AI AW BB BL BM BQ BS BZ CA CR CU CW DM DO GD GL GP GT HN HT JM KN KY LC MF MQ MS MX NI PA PM PR SV SX TC TT US VC VG VI',
  oceania: 'AS AU CC CK CX FJ FM GU HM KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TO TV UM VU WF WS',
  'south-america': 'AR BO BR BV CL CO EC FK GF GS GY PE PY SR UY VE',
} as const

const EU =
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK' as const

/**
 * Sets of countries by the names that rules use. The continents have words, because their usual codes are those of
 * countries: AF is Afghanistan, NA Namibia.
 */
export const COUNTRY_SETS: ReadonlyMap<string, readonly string[]> = new Map([
  ...Object.entries(CONTINENTS).map(([name, codes]) => [name, codes.split(' ')] as const),
  ['EU', EU.split(' ')],
  ['EEA', `${EU} IS LI NO`.split(' ')],
])

/** The ISO 3166-1 code of each country. */
export const COUNTRIES: ReadonlySet<string> = new Set(
  Object.values(CONTINENTS).flatMap((codes) => codes.split(' ')),
)

/** Returns a country or a set of countries in the letter case of its name here; undefined for other text. */
export function canonicalCountry(text: string): string | undefined {
  const upper = text.toUpperCase()
  if (COUNTRIES.has(upper) || COUNTRY_SETS.has(upper)) return upper
  const lower = text.toLowerCase()
  return COUNTRY_SETS.has(lower) ? lower : undefined
}
