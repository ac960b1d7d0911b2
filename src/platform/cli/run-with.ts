/** Opens services, runs `work` with them, and closes them. */
export type RunWith<Services> = <T>(work: (services: Services) => Promise<T>) => Promise<T>
