/** `ctl create quota`, `poddisruptionbudget` and `priorityclass`. */
import { quantityFault, tryParseQuantity } from '../../apimachinery/quantity.ts';
import { UsageError } from '../../base/usage-error.ts';
import { labelSelectorOf } from '../objects/label-selector.ts';
import { type Generator, newMetadata } from './generator.ts';

const quotaGenerator: Generator = {
  about: 'create a ResourceQuota, which limits what a namespace may have',
  usage: '--hard=RESOURCE=AMOUNT',
  examples: ['quota small --hard=pods=10,limits.memory=1Gi # limit the pods and their memory'],
  resource: 'resourcequotas',
  flags: {
    hard: { type: 'string', hint: 'RESOURCE=AMOUNT', about: 'hard limits, comma-separated' },
    scopes: { type: 'string', hint: 'SCOPES', about: 'scopes of the quota, comma-separated' },
  },
  make({ name, flags }) {
    const scopes = flags.text('scopes')?.split(',');
    if (scopes?.includes('')) throw new UsageError('invalid resource quota scope ""');
    const hard = flags.text('hard');
    return {
      kind: 'ResourceQuota',
      apiVersion: 'v1',
      metadata: newMetadata(name),
      spec: { ...(hard && { hard: amountsOf(hard) }), ...(scopes && { scopes }) },
      status: {},
    };
  },
};

/** Reads `cpu=1,memory=1Gi`. Throws UsageError, also for an amount that is no quantity. */
export function amountsOf(text: string | undefined): Record<string, string> {
  if (!text) return {};
  const pairs = text.split(',').map((pair) => {
    const [name = '', amount, ...more] = pair.split('=');
    if (amount === undefined || more.length > 0)
      throw new UsageError(`Invalid argument syntax ${pair}, expected <resource>=<value>`);
    if (tryParseQuantity(amount) === undefined)
      throw new UsageError(`${pair}: expected an amount such as 2, 500m or 64Mi; ${quantityFault(amount)}`);
    return [name, amount] as const;
  });
  return Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const budgetGenerator: Generator = {
  about: 'create a PodDisruptionBudget, which limits evictions of pods',
  usage: '--selector=SELECTOR (--min-available=COUNT | --max-unavailable=COUNT)',
  examples: ['pdb web --selector=app=web --min-available=2 # keep two pods while nodes are drained'],
  resource: 'poddisruptionbudgets.policy',
  flags: {
    selector: { type: 'string', hint: 'SELECTOR', about: 'label selector of the pods' },
    'min-available': {
      type: 'string',
      hint: 'COUNT|PERCENT%',
      about: 'minimum number or percentage of available pods',
    },
    'max-unavailable': {
      type: 'string',
      hint: 'COUNT|PERCENT%',
      about: 'maximum number or percentage of unavailable pods',
    },
  },
  make({ name, flags }) {
    const selector = flags.text('selector');
    const [min, max] = [flags.text('min-available'), flags.text('max-unavailable')];
    if (!selector) throw new UsageError('a selector must be specified');
    if (!min && !max) throw new UsageError('one of min-available or max-unavailable must be specified');
    if (min && max) throw new UsageError('min-available and max-unavailable cannot be both specified');
    const amount = (flag: string, text: string) => {
      if (!/^[0-9]+%?$/.test(text)) throw new UsageError(`invalid format specified for ${flag}`);
      return text.endsWith('%') ? text : Number(text);
    };
    return {
      kind: 'PodDisruptionBudget',
      apiVersion: 'policy/v1',
      metadata: newMetadata(name),
      spec: {
        ...(min && { minAvailable: amount('min-available', min) }),
        selector: labelSelectorOf(selector),
        ...(max && { maxUnavailable: amount('max-unavailable', max) }),
      },
      status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
    };
  },
};

const priorityClassGenerator: Generator = {
  about: 'create a PriorityClass, which gives pods a priority',
  usage: '--value=NUMBER',
  examples: [
    'priorityclass important --value=1000 --description="pods that customers need" # create a class',
  ],
  resource: 'priorityclasses.scheduling.k8s.io',
  clusterWide: true,
  flags: {
    value: {
      type: 'string',
      hint: 'NUMBER',
      about: 'priority of its pods; at most 1000000000',
      usual: '0',
    },
    'global-default': { type: 'boolean', about: 'use this class for pods without one' },
    description: { type: 'string', hint: 'TEXT', about: 'description of the priority class' },
    'preemption-policy': {
      type: 'string',
      hint: 'PreemptLowerPriority|Never',
      about: 'preemption policy: Never or PreemptLowerPriority',
      usual: 'PreemptLowerPriority',
    },
  },
  make({ name, flags }) {
    const value = flags.text('value') ?? '0';
    if (!/^[+-]?\d{1,10}$/.test(value))
      throw new UsageError(`--value: expected a whole number, got ${JSON.stringify(value)}`);
    const description = flags.text('description');
    return {
      kind: 'PriorityClass',
      apiVersion: 'scheduling.k8s.io/v1',
      metadata: newMetadata(name),
      value: Number(value),
      ...(flags.on('global-default') && { globalDefault: true }),
      ...(description && { description }),
      preemptionPolicy: flags.text('preemption-policy') ?? 'PreemptLowerPriority',
    };
  },
};

/** Generators with the short names that kubectl accepts. */
export const limitGenerators = {
  quota: quotaGenerator,
  resourcequota: quotaGenerator,
  poddisruptionbudget: budgetGenerator,
  pdb: budgetGenerator,
  priorityclass: priorityClassGenerator,
  pc: priorityClassGenerator,
};
