/** Machines with one state, as branches and as processors of a Map. */

/** Returns a state machine of one task. */
export const one = (name: string, more: object = {}) => ({
  StartAt: name,
  States: { [name]: { Type: 'Task', Resource: `function:${name.toLowerCase()}`, End: true, ...more } },
});

export const map = (more: object = {}, processor: object = one('A')) => ({
  Type: 'Map',
  ItemProcessor: processor,
  End: true,
  ...more,
});
