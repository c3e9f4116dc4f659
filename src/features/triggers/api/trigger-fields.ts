/** Sources of a Trigger, which has exactly one of these fields. */

export const changeTypes = ['Created', 'Updated', 'Deleted'] as const;
export type ChangeType = (typeof changeTypes)[number];
export const outcomes = ['Success', 'Failure'] as const;
export type CallOutcome = (typeof outcomes)[number];

export const sourceNames = ['cron', 'http', 'object', 'result', 'file'] as const;
