import type { faults } from '../../en/faults.ts'

/** Domains, Kontingente, Importe und Exporte, Statistik und Protokoll. */
export const dataFaults: typeof faults = {
  // Domains.
  'must be a full host name with a dot, such as go.example.com':
    'muss ein vollständiger Hostname mit Punkt sein, etwa go.example.com',
  'must be a host name without scheme, port or path, such as go.example.com':
    'muss ein Hostname ohne Schema, Port und Pfad sein, etwa go.example.com',
  'must be a host name such as go.example.com': 'muss ein Hostname sein, etwa go.example.com',
  'must be a name, not an address': 'muss ein Name sein, keine IP-Adresse',
  'holds an international label that cannot be read':
    'enthält einen internationalen Namensteil, der sich nicht lesen lässt',
  'is a public suffix, under which others register names; use a name below it':
    'ist eine öffentliche Endung, unter der andere Namen registrieren; verwenden Sie einen Namen darunter',
  'is a name under .{suffix}, which public DNS does not have':
    'ist ein Name unter .{suffix}; diese Endung gibt es im öffentlichen DNS nicht',
  'is reserved: only the operator of this service can add it':
    'ist reserviert: Nur der Betreiber dieses Dienstes kann die Domain hinzufügen',
  'is the host of this service, shared by all':
    'ist der Host dieses Dienstes, den alle gemeinsam verwenden',
  'must be a domain of this workspace': 'muss eine Domain dieses Arbeitsbereichs sein',
  'has been added before': 'wurde bereits hinzugefügt',
  'has been added before, or still has links of its own in this workspace':
    'wurde bereits hinzugefügt oder hat in diesem Arbeitsbereich noch eigene Links',
  'A domain is checked on demand once a minute at most.':
    'Eine Domain wird auf Wunsch höchstens einmal in der Minute geprüft.',

  // Kontingente.
  'has reached its quota of {limit} links; delete links, or ask the operator of this service for a higher quota':
    'Das Kontingent von {limit} Links ist erreicht; löschen Sie Links, oder bitten Sie den Betreiber dieses Dienstes um ein höheres Kontingent',
  'has reached its quota of {limit} bytes of links; delete or shorten links, or ask the operator of this service for a higher quota':
    'Das Kontingent von {limit} Byte für Links ist erreicht; löschen oder kürzen Sie Links, oder bitten Sie den Betreiber dieses Dienstes um ein höheres Kontingent',
  'has reached its quota of {limit} domains; delete domains, or ask the operator of this service for a higher quota':
    'Das Kontingent von {limit} Domains ist erreicht; entfernen Sie Domains, oder bitten Sie den Betreiber dieses Dienstes um ein höheres Kontingent',
  'has reached its quota of {limit} pending domains; prove or delete pending domains, or ask the operator of this service for a higher quota':
    'Das Kontingent von {limit} ausstehenden Domains ist erreicht; weisen Sie ausstehende Domains nach oder entfernen Sie sie, oder bitten Sie den Betreiber dieses Dienstes um ein höheres Kontingent',
  'This workspace has reached its quota of {limit} requests per minute. Send fewer, or ask the operator of this service for a higher quota.':
    'Dieser Arbeitsbereich hat sein Kontingent von {limit} Anfragen pro Minute erreicht. Senden Sie weniger, oder bitten Sie den Betreiber dieses Dienstes um ein höheres Kontingent.',

  // Importe und Exporte.
  'cannot be read: {max} imports have not ended; cancel one':
    'lässt sich nicht lesen: {max} Importe sind noch nicht beendet; brechen Sie einen ab',
  'is one too many: {max} imports with files have not ended; cancel one':
    'ist eine zu viel: {max} Importe mit Dateien sind noch nicht beendet; brechen Sie einen ab',
  'is not needed for {source}': 'ist für {source} nicht nötig',
  'was taken: the import has begun': 'wurde übernommen: Der Import hat begonnen',
  'is failed, and its token was removed: create another':
    'Der Import ist gescheitert, und sein Token wurde entfernt: Legen Sie einen neuen an',
  'is failed: it goes on as it began, or is cancelled':
    'Der Import ist gescheitert: Er geht so weiter, wie er begann, oder wird abgebrochen',
  'is {status}: it cannot be started': 'Der Import lässt sich in diesem Zustand nicht starten',
  'has changed: it cannot be started':
    'Der Import hat sich inzwischen geändert und lässt sich nicht starten',
  'must be sent first': 'muss zuerst gesendet werden',
  'is too far: a file has at most {max} bytes': 'ist zu weit: Eine Datei hat höchstens {max} Byte',
  'must be {size} here, where the part before ends':
    'muss hier {size} sein, wo der vorige Teil endet',
  'needs a file': 'braucht eine Datei',
  'needs an address, such as https://links.example.com':
    'braucht eine Adresse, etwa https://links.example.com',
  'needs a token': 'braucht ein Token',
  'must be an address such as https://links.example.com':
    'muss eine Adresse sein, etwa https://links.example.com',
  'must be a time zone such as Europe/Berlin': 'muss eine Zeitzone sein, etwa Europe/Berlin',
  'works only with format=ndjson': 'geht nur mit format=ndjson',

  // Statistik und Protokoll.
  'must not be later than now': 'darf nicht in der Zukunft liegen',
  'must be at most {days} days before to': 'darf höchstens {days} Tage vor dem Ende liegen',
  'must be a date such as 2026-11-01, or an instant such as 2026-11-01T09:30:00Z':
    'muss ein Datum sein, etwa 2026-11-01, oder ein Zeitpunkt, etwa 2026-11-01T09:30:00Z',
  'must be in the years {first} to {last}': 'muss in den Jahren {first} bis {last} liegen',
  'must be the name of an IANA time zone, such as Europe/Berlin':
    'muss eine Zeitzone der IANA sein, etwa Europe/Berlin',
  'would make {count} points for {values} values; there can be {max} in one answer':
    'ergäbe {count} Punkte für {values} Werte; in einer Antwort sind {max} möglich',
  'would make {count} points; there can be {max} in one answer':
    'ergäbe {count} Punkte; in einer Antwort sind {max} möglich',
  'cannot be had for {names}: single clicks {why}':
    'Dafür braucht es einzelne Klicks, und davon gibt es in diesem Zeitraum zu viele oder nicht mehr alle; wählen Sie weniger Tage oder nur eine Eigenschaft',
  'cannot be had for {names} together: single clicks {why}':
    'Dafür braucht es einzelne Klicks, und davon gibt es in diesem Zeitraum zu viele oder nicht mehr alle; wählen Sie weniger Tage oder nur eine Eigenschaft',
  'takes too long among so many events; set from and to closer together':
    'dauert bei so vielen Ereignissen zu lange; wählen Sie einen kürzeren Zeitraum',
}
