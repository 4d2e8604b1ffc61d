#pragma once
#include <natpmp.h>
