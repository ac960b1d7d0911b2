/**
 * Messages of the API in the words of this language; those that are missing are shown as they are. `{name}`
 * stands for a value of the message, and the words may use it.
 */
export const faults: Readonly<Record<string, string>> = {}
