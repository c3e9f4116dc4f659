/** The rules of the client: those of Kubernetes' kinds, then those of the features' kinds. */
import { RuleBook } from '../../why/rule-book.ts';
import { rules } from '../../why/rules/index.ts';
import type { CtlFeatures } from '../verb.ts';

export const ruleBook = async (features: Pick<CtlFeatures, 'rules'>): Promise<RuleBook> =>
  new RuleBook({ ...rules, ...(await features.rules()) });
