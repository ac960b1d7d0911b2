import type { faults } from '../../en/faults.ts'

/** Was für alle Felder gilt. */
export const fieldFaults: typeof faults = {
  'is required': 'fehlt',
  'is invalid': 'ist nicht gültig',
  'is not a known field': 'ist kein bekanntes Feld',
  'must be a string': 'muss Text sein',
  'must be a boolean': 'muss wahr oder falsch sein',
  'must be a number': 'muss eine Zahl sein',
  'must be an int': 'muss eine ganze Zahl sein',
  'must be an integer of at most 2^53-1': 'muss eine ganze Zahl sein, höchstens 2^53-1',
  'must be an array': 'muss eine Liste sein',
  'must be an object': 'muss ein Objekt sein',
  'must be a record': 'muss ein Objekt sein',
  'must be true or false': 'muss wahr oder falsch sein',
  'must be one of {values}': 'muss einer dieser Werte sein: {values}',
  'must be a list of {values}, separated by commas':
    'muss eine Liste dieser Werte sein, durch Kommas getrennt: {values}',
  'must be a whole number from {min} to {max}': 'muss eine ganze Zahl von {min} bis {max} sein',
  'must be from {min} to {max}': 'muss von {min} bis {max} sein',
  'must be at least {min} for this link, level and margin':
    'muss für diesen Link, diese Stufe und diesen Rand mindestens {min} sein',
  'must have {min} to {max} characters': 'muss {min} bis {max} Zeichen haben',
  'must have at most {max} characters': 'darf höchstens {max} Zeichen haben',
  'must have at most {max} characters, or be a short link':
    'darf höchstens {max} Zeichen haben oder muss ein Kurzlink sein',
  'must not contain control characters': 'darf keine Steuerzeichen enthalten',
  'must be well-formed Unicode': 'muss gültiges Unicode sein',
  'must be sent at least once': 'muss mindestens einmal gesendet werden',
  'must be sent at most {max} times': 'darf höchstens {max}-mal gesendet werden',
  'must hold {min} to {max} items': 'muss {min} bis {max} Einträge enthalten',
  'must hold at most {max} pairs': 'darf höchstens {max} Paare enthalten',
  'must be an ISO 8601 instant with a zone, such as {example}':
    'muss ein Zeitpunkt nach ISO 8601 mit Zeitzone sein, etwa {example}',
  'must be before to': 'muss vor dem Ende liegen',
  'Too big: expected {type} to have <={max} {units}': 'ist zu lang: höchstens {max} sind erlaubt',
  'Too small: expected {type} to have >={min} {units}': 'ist zu kurz: mindestens {min} sind nötig',
  'Invalid UUID': 'ist keine UUID',
  'Invalid input': 'ist nicht gültig',
  'Invalid key in record': 'enthält einen Namen, der nicht gültig ist',
}
