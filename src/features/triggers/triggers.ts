/** Triggers: call a function, or run a workflow, for each event of a source. */
import type { Feature } from '../feature.ts';
import { type TriggerOptions, triggerController, triggerRights } from './controller/trigger.ts';
import { triggerRoles } from './roles.ts';
import { triggers as triggerMetrics } from './server/object-metrics.ts';
import { triggersServer } from './server/triggers-server.ts';

export interface TriggerSettings {
  /** Options of the trigger controller; without them Triggers do nothing. */
  readonly triggers?: TriggerOptions;
}

export const triggers: Feature<TriggerSettings> = {
  name: 'triggers',
  roles: triggerRoles,
  objectMetrics: [triggerMetrics],
  server: (_settings, context) => triggersServer(context),
  controllers: [
    {
      account: 'trigger-controller',
      rights: triggerRights,
      controller: ({ triggers: options }) => options && triggerController(options),
    },
  ],
};
