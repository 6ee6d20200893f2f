import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.module.css';
import './styles/print.css';
import { createRoot } from 'react-dom/client';
import { watchNetwork } from './api/connection.js';
import { App } from './app/app.js';
import { keepKeysOfCompositions } from './lib/composition.js';
import { applyTheme } from './lib/preferences.js';

keepKeysOfCompositions();
applyTheme();
watchNetwork();
const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<App />);
