/** User agents as sent, and what is parsed from them. */
export const KNOWN_AGENTS: readonly {
  readonly what: string
  readonly agent: string
  /** Kind of device, operating system, browser. */
  readonly read: readonly [kind: string, os: string, browser: string]
}[] = [
  {
    what: 'Chrome on Windows',
    agent:
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
    read: ['desktop', 'Windows', 'Chrome'],
  },
  {
    what: 'Edge on Windows',
    agent:
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0',
    read: ['desktop', 'Windows', 'Edge'],
  },
  {
    what: 'Firefox on Windows',
    agent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0',
    read: ['desktop', 'Windows', 'Firefox'],
  },
  {
    what: 'Opera on Windows',
    agent:
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 OPR/122.0.0.0',
    read: ['desktop', 'Windows', 'Opera'],
  },
  {
    what: 'Safari on a Mac, or on an iPad since iPadOS 13, which sends the same',
    agent:
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15',
    read: ['desktop', 'macOS', 'Safari'],
  },
  {
    what: 'Firefox on Linux',
    agent: 'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0',
    read: ['desktop', 'Linux', 'Firefox'],
  },
  {
    what: 'Chrome on a Chromebook',
    agent:
      'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
    read: ['desktop', 'Chrome OS', 'Chrome'],
  },
  {
    what: 'Safari on an iPhone',
    agent:
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
    read: ['mobile', 'iOS', 'Safari'],
  },
  {
    what: 'Chrome on an iPhone',
    agent:
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/141.0.7390.41 Mobile/15E148 Safari/604.1',
    read: ['mobile', 'iOS', 'Chrome'],
  },
  {
    what: 'Safari on an iPad that asks for mobile pages',
    agent:
      'Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
    read: ['tablet', 'iOS', 'Safari'],
  },
  {
    what: 'Chrome on an Android phone',
    agent:
      'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36',
    read: ['mobile', 'Android', 'Chrome'],
  },
  {
    what: 'Chrome on an Android tablet',
    agent:
      'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
    read: ['tablet', 'Android', 'Chrome'],
  },
  {
    what: 'Firefox on an Android tablet',
    agent: 'Mozilla/5.0 (Android 15; Tablet; rv:144.0) Gecko/144.0 Firefox/144.0',
    read: ['tablet', 'Android', 'Firefox'],
  },
  {
    what: 'Samsung Internet',
    agent:
      'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36',
    read: ['mobile', 'Android', 'Samsung Internet'],
  },
  {
    what: 'Edge on Android',
    agent:
      'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36 EdgA/141.0.0.0',
    read: ['mobile', 'Android', 'Edge'],
  },
  {
    what: 'Instagram on an iPhone',
    agent:
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/22F76 Instagram 390.0.0.28.85 (iPhone14,5; iOS 18_5; en_US; en; scale=3.00; 1170x2532; 761893218)',
    read: ['mobile', 'iOS', 'Instagram'],
  },
  {
    what: 'Facebook on Android',
    agent:
      'Mozilla/5.0 (Linux; Android 15; SM-S918B Build/AP3A.240905.015.A2; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/141.0.7390.43 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/530.0.0.48.74;]',
    read: ['mobile', 'Android', 'Facebook'],
  },
  {
    what: 'TikTok on Android',
    agent:
      'Mozilla/5.0 (Linux; Android 14; SM-A546B Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/140.0.0.0 Mobile Safari/537.36 musical_ly_2024106030 JsSdk/1.0 AppName/musical_ly',
    read: ['mobile', 'Android', 'TikTok'],
  },
  {
    what: 'a Samsung television',
    agent:
      'Mozilla/5.0 (SMART-TV; LINUX; Tizen 6.5) AppleWebKit/537.36 (KHTML, like Gecko) 85.0.4183.93/6.5 TV Safari/537.36',
    read: ['tv', 'Tizen', 'Tizen'],
  },
  {
    what: 'an Amazon television stick',
    agent:
      'Mozilla/5.0 (Linux; Android 9; AFTKM Build/PS7624) AppleWebKit/537.36 (KHTML, like Gecko) Silk/120.4.1 like Chrome/120.0.6099.144 Safari/537.36',
    read: ['tv', 'Android', 'Amazon Silk'],
  },
  {
    what: 'a PlayStation, whose system the parser does not recognise',
    agent:
      'Mozilla/5.0 (PlayStation; PlayStation 5/5.50) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.0 Safari/605.1.15',
    read: ['console', '', 'Safari'],
  },
  { what: 'curl', agent: 'curl/8.5.0', read: ['', '', ''] },
  { what: 'an unknown agent', agent: 'Their Name/1.0 secret', read: ['', '', ''] },
]
