/** Messages of the API in the words of this language; those that are missing are shown as they are. */
export const faults: Readonly<Record<string, string>> = {}
