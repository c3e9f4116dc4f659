/** Outcomes of PodCertificateRequests. Pure. */
import type { Condition } from '../../meta/v1/types.gen.ts';
import type { PodCertificateRequest } from './types.gen.ts';

/** Conditions that end a request. It has at most one of them, with the status True. */
export const outcomes = ['Issued', 'Denied', 'Failed'] as const;

export type Outcome = (typeof outcomes)[number];

/** Returns the condition that ended the request; undefined while it is pending. */
export const outcomeOf = ({ status }: Pick<PodCertificateRequest, 'status'>): Condition | undefined =>
  status?.conditions?.find((condition) => isOutcome(condition.type) && condition.status === 'True');

export const isOutcome = (type: string): type is Outcome => outcomes.some((outcome) => outcome === type);
