import { explainFailure, refusesTemperature } from './explain-failure.ts';
import type { Model, ModelAnswer, ModelRequest, ModelSettings } from './model.ts';

/**
 * Makes `complete` out of an adapter's `ask`, which may throw. Newer models and API versions no longer take a
 * temperature (it is gone from Messages 2026-10-21): the first refusal that names it leaves it out for the step.
 */
export function callModel(
  settings: ModelSettings,
  ask: (settings: ModelSettings, request: ModelRequest) => Promise<ModelAnswer>,
): Model['complete'] {
  let current = settings;
  return async (request) => {
    try {
      return await ask(current, request);
    } catch (error) {
      if (current.temperature === undefined || !refusesTemperature(error)) {
        return explainFailure(error, current, request.signal);
      }
    }
    current = { ...current, temperature: undefined };
    try {
      return await ask(current, request);
    } catch (error) {
      return explainFailure(error, current, request.signal);
    }
  };
}
