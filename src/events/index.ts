/** The exports of events for other modules. */

export type { Event, EventStore } from './store/event-store.ts'
