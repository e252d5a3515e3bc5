import { z } from 'zod';
import { done } from './outcome.ts';
import { defineTool } from './tool.ts';

export const appendNoteTool = defineTool({
  name: 'append_note',
  description:
    "Adds a note for the humans to the role's notes: what you found, what should change outside of your boundary and why.",
  input: { text: z.string().trim().min(1) },
  execute: async ({ text }, context) => {
    await context.assignment.host.appendNote(text, context.turn);
    return done('Noted.');
  },
});
