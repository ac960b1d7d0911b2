/** Zones with unusual days or hours, and some ordinary ones. */
export const ZONES = [
  'UTC',
  'Europe/Berlin',
  'Europe/London',
  'America/New_York',
  // Offsets of half and quarter hours.
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Pacific/Chatham',
  'America/St_Johns',
  // Clocks that change by half an hour, by two hours, twice around Ramadan, or at midnight.
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
  // The greatest distances from UTC.
  'Pacific/Kiritimati',
  'Etc/GMT+12',
] as const
