import type { FaultTexts } from '../fault-text.ts'

const fields: FaultTexts['fields'] = {
  required: 'fehlt',
  unknown_field: 'ist kein bekanntes Feld',
  unexpected: 'gehört nicht zu dieser Anfrage',
  invalid: 'ist nicht gültig',
  wrong_type: {
    array: 'muss eine Liste sein',
    boolean: 'muss wahr oder falsch sein',
    integer: 'muss eine ganze Zahl sein',
    number: 'muss eine Zahl sein',
    object: 'muss ein Objekt sein',
    string: 'muss Text sein',
  },
  not_one_of: 'muss einer dieser Werte sein: {allowed}',
  not_list_of: 'muss eine Liste dieser Werte sein, durch Kommas getrennt: {allowed}',
  incompatible: {
    one_of: 'muss zusammen mit {other} einer dieser Werte sein: {allowed}',
    never: 'darf nicht zusammen mit {other} gesendet werden',
    only: 'geht nur mit {other}',
    contrary: 'dürfen nicht zugleich gelten: {other}',
  },
  out_of_range: 'muss eine ganze Zahl von {min} bis {max} sein',
  empty: 'darf nicht leer sein',
  not_alone: 'enthält {scope}; das muss das einzige Recht eines Tokens sein',
  too_short: 'braucht mindestens {min} Zeichen',
  too_long: 'darf höchstens {max} Zeichen haben',
  too_few: 'braucht mindestens {min} Einträge',
  too_many: 'darf höchstens {max} Einträge haben',
  control_characters: 'darf keine Steuerzeichen enthalten',
  malformed_text: 'muss gültiges Unicode sein',
  invalid_uuid: 'ist keine UUID',
  invalid_email: 'muss eine E-Mail-Adresse sein',
  invalid_color: 'muss eine Farbe der Form #RRGGBB sein',
  limit_reached: {
    imports: 'lässt sich nicht lesen: {max} Importe sind noch nicht beendet; brechen Sie einen ab',
    import_files:
      'ist eine zu viel: {max} Importe mit Dateien sind noch nicht beendet; brechen Sie einen ab',
    invitations: 'lässt sich nicht einladen: {max} Einladungen sind offen',
    passkeys: 'ist einer zu viel; löschen Sie zuerst einen Ihrer {max} Passkeys',
    rule_sets: 'wäre eine von mehr als {max} Regelsammlungen; löschen Sie einige',
    utm_templates: 'wäre eine von mehr als {max} Vorlagen; löschen Sie einige',
    webhooks: 'wäre einer von mehr als {max} Webhooks; löschen Sie einige',
    assistants:
      'wäre einer von mehr als {max}, die Sie hier arbeiten lassen; entziehen Sie einigen den Zugriff',
  },
  quota_reached: {
    links:
      'Das Kontingent von {max} Links ist erreicht; löschen Sie Links, oder bitten Sie den Betreiber dieses Dienstes um ein höheres Kontingent',
    storage_bytes:
      'Das Kontingent von {max} Byte für Links ist erreicht; löschen oder kürzen Sie Links, oder bitten Sie den Betreiber dieses Dienstes um ein höheres Kontingent',
    domains:
      'Das Kontingent von {max} Domains ist erreicht; entfernen Sie Domains, oder bitten Sie den Betreiber dieses Dienstes um ein höheres Kontingent',
    conversions:
      'Das Kontingent von {max} Conversions ist erreicht; löschen Sie Links, oder bitten Sie den Betreiber dieses Dienstes um ein höheres Kontingent',
    pending_domains:
      'Das Kontingent von {max} ausstehenden Domains ist erreicht; weisen Sie ausstehende Domains nach oder entfernen Sie sie, oder bitten Sie den Betreiber dieses Dienstes um ein höheres Kontingent',
  },
  taken: {
    link: 'ist auf dieser Domain vergeben',
    domain: 'wurde bereits hinzugefügt',
    domain_or_links:
      'wurde bereits hinzugefügt oder hat in diesem Arbeitsbereich noch eigene Links',
    email: 'gehört zu einer Adresse, die schon ein Konto hat',
    member: 'gehört einem Mitglied',
    passkey: 'ist ein Passkey, der bereits hinzugefügt wurde',
    rule_set: 'ist der Name einer anderen Regelsammlung',
    utm_template: 'ist der Name einer anderen Vorlage',
    workspace: '„{name}“ ist vergeben',
  },
  reserved: {
    service: 'ist auf dieser Domain dem Dienst selbst vorbehalten',
    operators: 'ist auf dieser Domain den Betreibern des Dienstes vorbehalten',
    domain: 'ist reserviert: Nur der Betreiber dieses Dienstes kann die Domain hinzufügen',
    shared: 'ist der Host dieses Dienstes, den alle gemeinsam verwenden',
  },

  invalid_instant: 'muss ein Zeitpunkt nach ISO 8601 mit Zeitzone sein, etwa 2026-12-31T23:59:59Z',
  invalid_date:
    'muss ein Datum sein, etwa 2026-11-01, oder ein Zeitpunkt, etwa 2026-11-01T09:30:00Z',
  invalid_time_zone: 'muss eine Zeitzone der IANA sein, etwa Europe/Berlin',
  invalid_period: {
    future: 'darf nicht in der Zukunft liegen',
    reversed: 'muss vor dem Ende liegen',
    too_long: 'darf höchstens {max} Tage vor dem Ende liegen',
    year: 'muss in den Jahren {min} bis {max} liegen',
  },
  past: 'muss in der Zukunft liegen',
  too_late: {
    year: 'muss vor dem Jahr 2255 liegen; lassen Sie es leer, wenn das Token nicht ablaufen soll',
    token: 'darf nicht nach {max} liegen: Dann läuft das Token ab, das dieses anlegt',
  },

  invalid_url: 'muss eine vollständige Adresse sein, etwa https://example.com/page',
  wrong_scheme: 'muss mit einem dieser Schemata beginnen: {allowed}',
  missing_address: 'muss nach {scheme}: eine Adresse haben',
  url_with_credentials: 'darf weder Benutzernamen noch Passwort enthalten',
  loop: {
    itself: 'darf nicht zu diesem Link zurückführen',
    links: 'darf nicht zu einem Link führen, der zu diesem zurückführt',
    domain: 'darf nicht zu dieser Domain zurückführen',
  },
  invalid_key: {
    characters: 'darf nur Buchstaben, Ziffern, Emojis, „-“, „_“, „.“, „~“ und „/“ enthalten',
    slashes: 'darf nicht mit „/“ beginnen oder enden und nicht „//“ enthalten',
    dots: 'darf keinen Abschnitt „.“ oder „..“ enthalten',
    placeholders: 'darf keinen Platzhalter zweimal enthalten',
  },
  invalid_parameter: {
    characters:
      'muss mit einem Buchstaben beginnen, dann höchstens 31 Buchstaben, Ziffern, „_“ und „-“',
    taken: 'darf nicht qr und kein UTM-Parameter sein',
  },
  unusable_token: {
    unknown: 'ist kein Token dieses Arbeitsbereichs',
    old: 'gehört zu einem Besuch vor mehr als {max} Tagen',
    deleted: 'gehört zu einem gelöschten Link',
  },
  invalid_currency: 'muss ein Währungscode aus drei Buchstaben wie EUR sein',
  impossible_instant: {
    before: 'darf nicht vor dem Besuch um {min} liegen',
    future: 'darf nicht in der Zukunft liegen',
  },
  not_restorable: {
    creation: 'ist das Anlegen des Links: Löschen Sie stattdessen den Link',
    unlogged:
      'lässt sich nicht zurücksetzen: der frühere Wert steht in keinem Protokoll; nennen Sie in fields die anderen Felder',
    many: 'liegt mehr als {max} Änderungen zurück: Wählen Sie eine spätere',
  },
  too_many_variants:
    'hat auf dieser Domain {max} Varianten, die sich nur in Groß- und Kleinschreibung unterscheiden',
  too_many_paths:
    'wäre einer von mehr als {max} Links dieser Domain, die den Pfad hinter ihrem Kürzel verwenden',
  too_many_tags: 'gäbe dem Link mehr als {max} Tags',
  sealed_elsewhere:
    'ist die versiegelte Form eines anderen Passworts; geben Sie das Passwort selbst ein',
  wrong_cursor: 'ist kein Cursor dieser Liste; beginnen Sie die Liste von vorn',
  too_slow: {
    links:
      'dauert bei so vielen Links zu lange; wählen Sie zusätzlich einen Tag, oder sortieren Sie nach Erstellung',
    tags: 'muss enger sein: Es sind zu viele Tags, um sie zu zählen',
    conversions: 'dauert bei so vielen Conversions zu lange; legen Sie from und to näher zusammen',
    events: 'dauert bei so vielen Ereignissen zu lange; wählen Sie einen kürzeren Zeitraum',
  },
  too_pale: 'ist auf Weiß zu blass zum Scannen; wählen Sie eine dunklere Farbe',
  level_too_high: 'ist für einen so langen Link zu hoch; wählen Sie eine niedrigere',
  size_too_small: 'muss für diesen Link, diese Stufe und diesen Rand mindestens {min} sein',
  invalid_logo: {
    encoding: 'muss ein PNG in Base64 sein, mit {prefix} davor',
    bytes: 'darf höchstens {max} KiB groß sein',
    pixels: 'darf höchstens {max} × {max} Pixel haben',
    damaged: 'ist kein gültiges PNG',
    interlaced: 'darf kein PNG mit Zeilensprung (interlaced) sein',
  },
  invalid_image: {
    format: 'muss ein PNG, JPEG, WebP oder GIF sein',
    damaged: 'ist beschädigt',
    pixels: 'darf höchstens 16 Megapixel haben',
  },
  unknown_image: 'ist kein Bild dieses Arbeitsbereichs; bitte zuerst hochladen',
  no_preview: {
    private: 'liegt in einem privaten Netz, das nicht gelesen wird',
    scheme: 'muss eine Seite im Web sein',
    unreachable: 'ist nicht erreichbar',
    slow: 'wurde nicht innerhalb von {max} Sekunden gelesen',
    status: 'antwortet mit dem Status {status} statt mit einer Seite',
    page: 'ist keine Seite in HTML',
    redirects: 'leitet mehr als {max}-mal weiter',
    too_long: 'ist länger als {max} Bytes',
    empty: 'hat weder Titel noch Beschreibung noch Bild',
  },

  exactly_one_of: 'braucht genau eines davon: {allowed}',
  at_least_one_of: 'braucht mindestens eines davon: {allowed}',
  unknown_country: 'muss ein Ländercode aus zwei Buchstaben wie DE sein, oder: {allowed}',
  invalid_country: 'muss ein Ländercode aus zwei Buchstaben sein, etwa DE',
  invalid_address: 'muss eine Adresse wie 192.0.2.1 oder 2001:db8::1 sein',
  no_cities:
    'braucht eine Datenbank von Städten, die der Betreiber dieses Dienstes nicht eingerichtet hat',
  invalid_language: 'muss ein Sprachcode wie de oder pt-BR sein',
  invalid_network: 'muss eine Adresse oder ein Netz sein, etwa 192.0.2.0/24 oder 2001:db8::/32',
  invalid_time_of_day: 'muss eine Uhrzeit von 00:00 bis 24:00 sein, etwa 09:30',
  invalid_rule_id: 'muss 1 bis 32 Kleinbuchstaben, Ziffern, „-“ und „_“ haben',
  repeated: {
    rule: 'darf keine Kennung zweimal haben',
    example: 'darf keinen Namen zweimal haben',
    variant: 'darf keinen Namen zweimal haben',
  },
  no_weight: 'braucht eine Variante mit einem Gewicht über 0',
  unknown_variant: 'muss der Name einer Variante dieser Aufteilung sein',
  misplaced_placeholder: 'darf Platzhalter nur hinter dem Host haben',
  other_link: 'führt zu einem anderen Link dieser Domain',
  examples_too_large: 'darf höchstens {max} Byte haben',
  rules_too_large: 'darf höchstens {max} Bytes haben',
  invalid_set_name:
    'muss aus 1 bis 63 Kleinbuchstaben, Ziffern und Bindestrichen bestehen, etwa flyers',
  deletion_prevented: 'hält diesen Link davon ab, gelöscht zu werden; schalten Sie das zuerst aus',
  unknown_rule_set: 'muss die ID einer Regelsammlung dieses Arbeitsbereichs sein',

  invalid_host: {
    characters: 'muss ein Hostname ohne Schema, Port und Pfad sein, etwa go.example.com',
    form: 'muss ein Hostname sein, etwa go.example.com',
    international: 'enthält einen internationalen Namensteil, der sich nicht lesen lässt',
    ip_address: 'muss ein Name sein, keine IP-Adresse',
    no_dot: 'muss ein vollständiger Hostname mit Punkt sein, etwa go.example.com',
  },
  public_suffix:
    'ist eine öffentliche Endung, unter der andere Namen registrieren; verwenden Sie einen Namen darunter',
  special_use: 'ist ein Name unter .{suffix}; diese Endung gibt es im öffentlichen DNS nicht',
  invalid_app_id:
    'muss aus dem Präfix eines Teams, einem Punkt und einer Bundle-ID bestehen, zum Beispiel ABCDE12345.com.example.app',
  invalid_package_name: 'muss der Name eines Android-Pakets sein, zum Beispiel com.example.app',
  invalid_fingerprint:
    'muss ein SHA-256-Fingerabdruck sein: 32 Paare hexadezimaler Ziffern in Großbuchstaben, durch Doppelpunkte getrennt',
  invalid_relation: 'muss eine Beziehung sein wie delegate_permission/common.handle_all_urls',
  document_too_large: 'darf höchstens {max} Bytes haben',
  unknown_domain: 'muss eine Domain dieses Arbeitsbereichs sein',
  invalid_secret: 'muss whsec_ und 24 bis 64 Bytes in Base64 sein',
  private_address: 'liegt in einem privaten Netz; der Betreiber dieses Dienstes kann es erlauben',
  unknown_client: 'ist kein Programm, das hier registriert ist, und keine https-Adresse',
  unreadable_client: {
    address: 'führt in ein privates Netz',
    unreachable: 'kann nicht gelesen werden',
    invalid: 'beschreibt kein Programm, wie es das müsste',
    secret:
      'beschreibt ein Programm, das sich mit einem Geheimnis anmeldet; das wird nicht unterstützt',
  },
  foreign_callback: 'ist keine Adresse dieses Programms',
  webhook_disabled: 'ist abgeschaltet; schalten Sie ihn zuerst ein',
  unavailable_domain: 'steht diesem Arbeitsbereich nicht zur Verfügung',
  domain_not_added: {
    closed: 'muss dem Arbeitsbereich zuerst hinzugefügt werden',
    scope: 'muss dem Arbeitsbereich zuerst hinzugefügt werden, wofür das Recht {scope} nötig ist',
    role: 'muss zuerst von einem Admin dem Arbeitsbereich hinzugefügt werden',
  },

  too_many_points: {
    intervals: 'ergäbe {points} Punkte; in einer Antwort sind {max} möglich',
    values: 'ergäbe {points} Punkte für {values} Werte; in einer Antwort sind {max} möglich',
  },
  no_single_clicks: {
    old: 'Dafür braucht es einzelne Klicks, und die bleiben {max} Tage; wählen Sie einen späteren Anfang oder nur eine Eigenschaft',
    many: 'Dafür braucht es einzelne Klicks, höchstens {max}, und die Tage haben {clicks}; wählen Sie weniger Tage oder nur eine Eigenschaft',
    dropped:
      'Dafür braucht es einzelne Klicks, und davon blieben nicht alle: {kept} von {clicks}; wählen Sie andere Tage oder nur eine Eigenschaft',
    slow: 'Dafür braucht es einzelne Klicks, und die zu lesen dauert länger als {max} s; wählen Sie weniger Tage oder nur eine Eigenschaft',
  },

  not_needed: 'ist für {source} nicht nötig',
  import_begun: 'wurde übernommen: Der Import hat begonnen',
  import_not_startable: {
    status: 'Der Import lässt sich in diesem Zustand nicht starten',
    token: 'Der Import ist gescheitert, und sein Token wurde entfernt: Legen Sie einen neuen an',
    options: 'Der Import ist gescheitert: Er geht so weiter, wie er begann, oder wird abgebrochen',
    changed: 'Der Import hat sich inzwischen geändert und lässt sich nicht starten',
  },
  file_too_large: 'ist zu weit: Eine Datei hat höchstens {max} Byte',
  wrong_offset: 'muss hier {expected} sein, wo der vorige Teil endet',

  web_address:
    'darf keine Internetadresse enthalten; falls es keine ist, setzen Sie nach Punkten ein Leerzeichen',
  invalid_workspace_name:
    'muss aus 1 bis 63 Kleinbuchstaben, Ziffern und Bindestrichen bestehen, etwa acme',
  mapped_name:
    'steht in den Einstellungen für Single Sign-on; nur Betreiber der Instanz benennen um',
  weak_password: {
    short: 'braucht mindestens {min} Zeichen',
    short_alone:
      'braucht mindestens {min} Zeichen, oder {min_with_factor} mit einem zweiten Faktor',
    personal: 'darf nicht Ihr Name oder Ihre E-Mail-Adresse sein',
    simple: 'ist zu leicht zu erraten; verwenden Sie mehr verschiedene Zeichen',
    common: 'gehört zu den Passwörtern, die Angreifer zuerst versuchen',
  },
  wrong: {
    password: 'ist falsch',
    clock: 'ist falsch; prüfen Sie die Uhr des Geräts',
    used: 'ist falsch oder wurde schon verwendet',
  },
  invalid_code: {
    setup: 'ist falsch, wurde verwendet oder ist abgelaufen',
    invitation: 'gilt nicht: Sie wurde verwendet oder zurückgezogen oder ist abgelaufen',
    reset: 'gilt nicht: Er wurde verwendet oder ersetzt oder ist abgelaufen',
  },
  already_set_up: 'ist nicht nötig: Die erste Person ist eingerichtet',
  nothing_to_confirm: 'Es gibt keine Einrichtung zu bestätigen; beginnen Sie von vorn',
  second_factor_needed: {
    password:
      'Ihr Passwort hat weniger als {min} Zeichen und braucht einen zweiten Faktor. Setzen Sie zuerst ein längeres Passwort, oder richten Sie einen anderen zweiten Faktor ein.',
    codes:
      'stehen für einen zweiten Faktor ein: Richten Sie zuerst eine Authenticator-App oder einen Passkey ein',
  },
  unknown_passkey: 'ist hier nicht bekannt, oder die Anfrage ist zu alt',
  outdated_options: 'passt nicht zur letzten Anfrage dieses Browsers; versuchen Sie es erneut',
  passkeys_need_name:
    'geht hier nicht: Für eine IP-Adresse legen Browser keine Passkeys an, und TERSE_BASE_URL hat eine statt eines Namens',
  no_mail:
    'geht hier nicht: Diese Instanz sendet keine E-Mails. Bitten Sie einen Admin um einen Link.',
  last_way_in: 'ist Ihr letzter Weg, sich anzumelden; setzen Sie zuerst ein Passwort',
  own_account: 'ist Ihr eigenes Konto; setzen Sie dort ein neues Passwort',
  last_operator: {
    change: 'Die Instanz hätte keinen Betreiber mehr; benennen Sie zuerst einen anderen',
    deletion: 'Die Instanz hätte keinen Betreiber mehr; benennen Sie zuerst einen anderen',
  },
  last_owner: {
    change:
      'Dem letzten Inhaber lässt sich die Rolle nicht nehmen; machen Sie zuerst ein anderes Mitglied zum Inhaber',
    deletion:
      'Der Arbeitsbereich {workspace} hätte keinen Inhaber mehr; machen Sie zuerst ein anderes Mitglied zum Inhaber, oder löschen Sie den Arbeitsbereich',
  },
  exceeds_rights: {
    role: 'kann nicht mehr erlauben, als Sie dürfen',
    scopes: 'kann nicht mehr erlauben, als Sie dürfen; lassen Sie {scopes} weg',
  },
  other_person: 'gilt für {invited}; Sie sind als {person} angemeldet',
  already_member: 'führt in einen Arbeitsbereich, dessen Mitglied Sie sind',
  mailed_link_required:
    'legt kein Konto an: Öffnen Sie den Link in der Mail an {email}, oder melden Sie sich zuerst an, wenn Sie ein Konto haben',
  account_required: 'fehlt; wenn Sie schon ein Konto haben, melden Sie sich zuerst an',
  signed_in: 'ist für neue Personen; Sie sind angemeldet',
  new_password_required:
    'muss neu sein: Ihre Adresse ist nicht erwiesen; wer dieses Konto angelegt hat, kennt vielleicht das alte',

  invalid_idempotency_key: 'muss {min} bis {max} druckbare ASCII-Zeichen haben',
  not_honoured: 'gilt für diese Anfrage nicht; senden Sie sie ohne',
}

const details: FaultTexts['details'] = {
  wrong_credentials: 'E-Mail-Adresse oder Passwort ist falsch.',
  unknown_passkey: 'Dieser Passkey ist hier nicht bekannt, oder die Anfrage ist zu alt.',
  other_account: 'Melden Sie sich als {email} an, um diese Einladung anzunehmen.',
  session_ended: 'Diese Sitzung ist beendet. Melden Sie sich erneut an.',
  no_token: 'Sie sind nicht angemeldet. Melden Sie sich an.',
  malformed_token: 'Sie sind nicht angemeldet. Melden Sie sich an.',
  invalid_token: 'Dieses Token gilt nicht.',
  expired_token: 'Dieses Token ist abgelaufen.',
  role_needed: {
    viewer: 'Dafür brauchen Sie im Arbeitsbereich die Rolle Betrachter.',
    member: 'Dafür brauchen Sie im Arbeitsbereich die Rolle Mitglied.',
    admin: 'Dafür brauchen Sie im Arbeitsbereich die Rolle Admin.',
    owner: 'Dafür brauchen Sie im Arbeitsbereich die Rolle Inhaber.',
  },
  person_needed: 'Das kann kein Token. Melden Sie sich mit der nötigen Rolle an.',
  people_only: 'Das können nur angemeldete Personen, kein Token.',
  assistants_off:
    'Assistenten dürfen sich mit diesem Arbeitsbereich nicht verbinden. Ein Admin kann es erlauben.',
  operators_only: 'Das können nur Betreiber der Instanz.',
  reset_by_operator:
    'Diese Person darf mehr als das in diesem Arbeitsbereich; den Link muss ein Betreiber der Instanz anlegen.',
  rise_ends_access:
    'Ein höheres Recht würde jeden Zugang dieser Person beenden, deren Adresse nicht nachgewiesen ist: Geben kann es, wer auch den Link für ein neues Passwort anlegen darf.',
  rule_set_in_use: {
    links:
      'Diese Regelsammlung verwenden {count} Links, zum Beispiel {links}. Nehmen Sie sie dort zuerst heraus.',
    domains:
      'Diese Regelsammlung ist die Vorgabe von {domains}. Nehmen Sie sie dort zuerst heraus.',
    both: 'Diese Regelsammlung verwenden {count} Links, zum Beispiel {links}, und sie ist die Vorgabe von {domains}. Nehmen Sie sie dort zuerst heraus.',
  },
  examples_changed:
    'Das ändert, wohin Beispiele des Links führen: {names}. Bestätigen Sie, dass es so gemeint ist.',
  foreign_page:
    'Diese Anfrage muss von einer Seite unter {address} kommen. Öffnen Sie das Dashboard dort.',
  foreign_page_with_session:
    'Änderungen müssen von Seiten unter {address} kommen. Öffnen Sie das Dashboard dort.',
}

const errors: FaultTexts['errors'] = {
  bad_request: 'Die Anfrage hat keine Form, die dieser Dienst annimmt. Laden Sie die Seite neu.',
  malformed_json: 'Die Anfrage ist kein gültiges JSON.',
  unauthorized: 'Sie sind nicht angemeldet. Melden Sie sich an.',
  second_factor_required: 'Dafür ist ein zweiter Faktor nötig.',
  missing_scope: 'Diesem Token fehlt ein Recht.',
  missing_role: 'Dafür fehlt Ihnen das Recht.',
  authentication_required:
    'Bestätigen Sie mit Ihrem Passwort oder einem Passkey, dass Sie es sind, und versuchen Sie es erneut.',
  cross_origin: 'Änderungen müssen von Seiten des Dashboards kommen.',
  not_found: 'Das gibt es hier nicht oder nicht mehr.',
  method_not_allowed: 'Diese Anfrage gibt es hier nicht.',
  idempotency_conflict:
    'Diese Anfrage wurde schon mit anderem Inhalt gesendet. Laden Sie die Seite neu, und versuchen Sie es erneut.',
  in_use: 'Das wird noch verwendet.',
  examples_changed: 'Das ändert, wohin Beispiele des Links führen.',
  precondition_failed: 'Dies wurde inzwischen geändert. Laden Sie es neu, und ändern Sie es dann.',
  body_too_large: 'Die Anfrage ist zu groß.',
  unsupported_media_type: 'Die Anfrage muss JSON enthalten.',
  validation_failed: 'Die Angaben sind nicht gültig.',
  https_required: 'Öffnen Sie das Dashboard über HTTPS.',
  rate_limited: 'Zu viele Anfragen. Versuchen Sie es gleich erneut.',
  too_many_attempts: 'Zu viele falsche Versuche. Versuchen Sie es später erneut.',
  queue_full: 'Von Ihnen warten schon zu viele Anfragen. Versuchen Sie es gleich erneut.',
  internal: 'Beim Dienst ist ein Fehler aufgetreten. Bitte melden Sie die Anfrage {request_id}.',
  unavailable: 'Der Dienst kann gerade nicht antworten. Versuchen Sie es erneut.',
  overloaded: 'Der Dienst ist ausgelastet. Versuchen Sie es gleich erneut.',
  unknown_answer: 'Der Dienst hat mit {status} geantwortet.',
}

/** Meldungen der API, nach ihren Codes. */
export const faults: FaultTexts = { fields, details, errors }
