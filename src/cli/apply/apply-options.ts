/** Flags of `ctl apply`, and the combinations that are refused. */
import { UsageError } from '../../base/usage-error.ts';
import {
  type DryRun,
  dryRunOf,
  type Flags,
  type FlagTable,
  requireManifests,
  selectorFlag,
} from '../flags/flags.ts';
import { validateFlag, writeFlags } from '../flags/write-options.ts';
import { cascadeFlag } from '../objects/removal.ts';

export const pruneFlags = {
  prune: {
    type: 'boolean',
    about:
      'delete objects that were applied before and are in no manifest now; needs -l, --all or --applyset',
  },
  'prune-allowlist': {
    type: 'string',
    hint: 'GROUP/VERSION/KIND',
    about: 'with --prune: kind to delete objects of, such as core/v1/ConfigMap; may be repeated',
    usual: 'workloads, Services, Ingresses, ConfigMaps, Secrets and volume claims',
  },
} as const satisfies FlagTable;

export const serverSideFlags = {
  'server-side': { type: 'boolean', about: 'apply on the server instead of the client' },
  'force-conflicts': {
    type: 'boolean',
    about: 'with --server-side: take over fields of other field managers',
  },
  'field-manager': { type: 'string', hint: 'NAME', about: 'field manager that owns the fields' },
} as const satisfies FlagTable;

export const applyFlags = {
  ...writeFlags,
  ...validateFlag,
  ...serverSideFlags,
  ...selectorFlag,
  ...pruneFlags,
  ...cascadeFlag,
  all: { type: 'boolean', about: 'with --prune: consider objects with any labels' },
  applyset: {
    type: 'string',
    hint: '[RESOURCE/]NAME',
    about: 'with --prune: object that keeps track of what is applied; needs $KUBECTL_APPLYSET=true',
  },
  force: { type: 'boolean', about: 'delete an object that cannot be changed, and create it again' },
  'grace-period': {
    type: 'string',
    hint: 'SECONDS',
    about: 'seconds given to a deleted pod to terminate gracefully',
    usual: 'the grace period of each pod',
  },
  wait: { type: 'boolean', about: 'wait until the pruned objects are gone' },
  timeout: { type: 'string', hint: 'DURATION', about: 'time to wait', usual: 'no limit' },
  subresource: {
    type: 'string',
    hint: 'NAME',
    about: 'with --server-side: apply this subresource of the object, such as status',
  },
} as const satisfies FlagTable;

/** Throws UsageError for flags that exclude each other, before anything is sent. */
export function requireFittingFlags(
  flags: Flags,
  env: Readonly<Record<string, string | undefined>>,
  dryRun: DryRun = dryRunOf(flags),
): void {
  requireManifests(flags);
  const refusals: readonly (readonly [boolean, string])[] = [
    [flags.words.length > 0, `unexpected arguments: ${flags.words.join(' ')}`],
    ...serverSideRefusals(flags, dryRun),
    [dryRun === 'server' && flags.on('force'), '--dry-run=server cannot be used with --force'],
    [flags.on('all') && Boolean(flags.text('selector')), 'cannot set --all and --selector at the same time'],
    ...pruneRefusals(flags, env),
  ];
  const refused = refusals.find(([applies]) => applies);
  if (refused) throw new UsageError(refused[1]);
}

type Refusals = readonly (readonly [boolean, string])[];

export function serverSideRefusals(flags: Flags, dryRun: DryRun = 'none'): Refusals {
  const onServer = flags.on('server-side');
  return [
    [flags.on('force-conflicts') && !onServer, '--force-conflicts only works with --server-side'],
    [
      dryRun === 'client' && onServer,
      "--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)",
    ],
    [onServer && flags.on('force'), '--force cannot be used with --server-side'],
    [
      Boolean(flags.text('subresource')) && !onServer,
      '--subresource can only be specified for --server-side',
    ],
  ];
}

function pruneRefusals(flags: Flags, env: Readonly<Record<string, string | undefined>>): Refusals {
  const [prunes, set] = [flags.on('prune'), Boolean(flags.text('applyset'))];
  const [all, selector] = [flags.on('all'), Boolean(flags.text('selector'))];
  return [
    [
      flags.given('applyset') && env.KUBECTL_APPLYSET !== 'true',
      '--applyset is an alpha feature: set KUBECTL_APPLYSET=true to use it',
    ],
    [flags.given('applyset') && !set, '--applyset: the name is missing'],
    [set && !prunes, '--applyset requires --prune'],
    [flags.given('prune-allowlist') && !prunes, '--prune-allowlist requires --prune'],
    [prunes && flags.on('force'), '--force cannot be used with --prune'],
    [set && all, '--all is incompatible with --applyset'],
    [set && selector, '--selector is incompatible with --applyset'],
    [set && flags.given('prune-allowlist'), '--prune-allowlist is incompatible with --applyset'],
    [
      prunes && !set && !all && !selector,
      'all resources selected for prune without explicitly passing --all. To prune all resources, pass the ' +
        '--all flag. If you did not mean to prune all resources, specify a label selector',
    ],
    [
      prunes && !set && flags.on('server-side'),
      "--prune is in alpha and doesn't currently work on objects created by server-side apply; use --applyset",
    ],
  ];
}
