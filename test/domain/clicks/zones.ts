/** Zones in which something is unusual about days or hours, and some in which nothing is. */
export const ZONES = [
  'UTC',
  'Europe/Berlin',
  'Europe/London',
  'America/New_York',
  // Half and quarter hours.
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Pacific/Chatham',
  'America/St_Johns',
  // Clocks that are set by half an hour, by two hours, twice around Ramadan, at midnight.
  'Australia/Lord_Howe',
  'Antarctica/Troll',
  'Africa/Casablanca',
  'America/Havana',
  'America/Santiago',
  'Asia/Beirut',
  'Africa/Cairo',
  'Atlantic/Azores',
  'America/Scoresbysund',
  'America/Nuuk',
  // As far from UTC as there is.
  'Pacific/Kiritimati',
  'Etc/GMT+12',
] as const
