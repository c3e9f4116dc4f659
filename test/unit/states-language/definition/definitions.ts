/** Definitions for the tests of validation, and functions that return the faults of one. */
import { checkDefinition } from '../../../../src/states-language/definition/check-definition.ts';

export const faults = (definition: unknown) =>
  checkDefinition(definition, 'd').map(({ field, message }) => `${field}: ${message}`);

export const end = { Type: 'Succeed' };

export const task = { Type: 'Task', Resource: 'function:f', End: true };

export const inner = { StartAt: 'I', States: { I: { Type: 'Pass', End: true } } };

export const wait = { Type: 'Wait', End: true };

export const map = { Type: 'Map', ItemProcessor: inner, End: true };

/** Returns the faults of one state, which is named S; N is a state beside it that is always reached. */
export const of = (state: object, top: object = {}) =>
  faults({
    ...top,
    StartAt: 'Z',
    States: {
      Z: {
        Type: 'Choice',
        Choices: [
          {
            ...('QueryLanguage' in top && top.QueryLanguage === 'JSONata'
              ? { Condition: true }
              : { Variable: '$.x', IsPresent: true }),
            Next: 'N',
          },
        ],
        Default: 'S',
      },
      S: state,
      N: end,
    },
  }).map((fault) => fault.replaceAll('d.States.S', 'S'));

export const jsonata = { QueryLanguage: 'JSONata' };
