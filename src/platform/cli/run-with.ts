/** Runs work with services that it opens before and closes after. */
export type RunWith<Services> = <T>(work: (services: Services) => Promise<T>) => Promise<T>
